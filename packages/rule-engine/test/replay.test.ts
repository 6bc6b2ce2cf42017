import { compileRules, createReplay } from '@adcap/rule-engine';
import { toEngineAd } from '@adcap/testkit/oracle';
import { expect, test } from 'vitest';
import { aRule, cap, clock, keyOf } from './support.ts';

const blockedAt = (limit: string, instants: readonly string[]): string[] => {
  const rules = compileRules({
    version: 1,
    dimensions: {},
    rules: [aRule({ dimension: 'creative', limit: cap(limit) })],
  });
  const replay = createReplay(rules);
  const ad = toEngineAd({ creative: 'c1', industries: [] }, keyOf);
  return instants.filter((time) => replay.watch({ ad, at: clock(time) }) !== undefined);
};

test.for([
  ['one exactly a window old is out', '2/60m', ['08:00', '08:30', '09:00'], []],
  ['a minute earlier it still counts', '2/60m', ['08:00', '08:30', '08:59'], ['08:59']],
  ['a blocked one counts for no later one', '1/60m', ['08:00', '08:50', '09:10'], ['08:50']],
  ['of two in one millisecond the first counts', '1/60m', ['08:00', '08:00'], ['08:00']],
] as const)('%s', ([, limit, instants, blocked]) => {
  expect(blockedAt(limit, instants)).toEqual(blocked);
});

test('asking counts nothing', () => {
  const replay = createReplay(
    compileRules({
      version: 1,
      dimensions: {},
      rules: [aRule({ dimension: 'creative', limit: cap('1/60m') })],
    }),
  );
  const ad = toEngineAd({ creative: 'c1', industries: [] }, keyOf);
  expect([1, 2, 3].map(() => replay.evaluate(ad, clock('08:00')).remaining)).toEqual([1, 1, 1]);
});
