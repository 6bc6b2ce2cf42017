import { expect, test } from 'vitest';
import { parseOptions } from '../src/parse-options.ts';

const FAULTS = ['stopped', 'paused'];

test('what is not said is two minutes at 500 a second of every fault', () => {
  expect(parseOptions([], FAULTS)).toEqual({
    seconds: 120,
    rate: 500,
    only: [],
    jsonFile: undefined,
    isStrict: false,
  });
});

test('reads every option, also behind the -- of a package manager', () => {
  const args = [
    '--',
    '--seconds',
    '5',
    '--rate',
    '50',
    '--only',
    'paused,stopped',
    '--json',
    'x',
    '--strict',
  ];
  expect(parseOptions(args, FAULTS)).toEqual({
    seconds: 5,
    rate: 50,
    only: ['paused', 'stopped'],
    jsonFile: 'x',
    isStrict: true,
  });
});

test.for([
  [['--seconds', '0'], '--seconds is a whole number'],
  [['--rate', 'fast'], '--rate is a whole number'],
  [['--only', 'flooded'], 'there is no fault "flooded": there are stopped, paused'],
  [['--sceonds', '5'], '--sceonds'],
] as const)('%j is refused', ([args, message]) => {
  expect(() => parseOptions(args, FAULTS)).toThrow(message);
});
