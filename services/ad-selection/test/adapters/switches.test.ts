import { epochMs } from '@adcap/contracts';
import { expect, test } from 'vitest';
import { createSwitches } from '../../src/adapters/switches.ts';

const NAME = 'answer-open';

/** Two instances over one hash, each with its own clock. */
const openTwo = () => {
  const hash = new Map<string, string>();
  const clock = { a: 1_000, b: 1_000 };
  const log: unknown[] = [];
  const open = (of: 'a' | 'b') =>
    createSwitches({
      state: { putSwitch: async (name, value) => void hash.set(name, value) },
      nowMs: () => epochMs(clock[of]),
      logger: {
        warn: (bindings: object) => void log.push({ ...bindings, of }),
        info: (bindings: object) => void log.push({ ...bindings, of }),
      },
    });
  return { a: open('a'), b: open('b'), hash, clock, log };
};

test('a change is logged with its name and end where it is made and where it arrives, and once', async () => {
  const { a, b, hash, log } = openTwo();
  await a.change(NAME, epochMs(5_000));
  for (let turn = 0; turn < 3; turn += 1) {
    a.merge(hash);
    b.merge(hash);
  }
  expect(log).toEqual([
    { of: 'a', switch: NAME, on: true, until: 5_000, by: 'request' },
    { of: 'b', switch: NAME, on: true, until: 5_000, by: 'another instance' },
  ]);
});

test('a later change wins also where the clock that it was made by is behind', async () => {
  const { a, b, hash, clock } = openTwo();
  clock.a = 900_000;
  await a.change(NAME, epochMs(2_000_000));
  b.merge(hash);
  expect(b.isOn(NAME)).toBe(true);
  await b.change(NAME, null);
  a.merge(hash);
  expect([a.isOn(NAME), b.isOn(NAME)]).toEqual([false, false]);
});

test('what ends by itself is logged once', async () => {
  const { a, clock, log } = openTwo();
  await a.change(NAME, epochMs(5_000));
  clock.a = 5_000;
  expect(a.isOn(NAME)).toBe(false);
  a.noteExpired();
  a.noteExpired();
  expect(log.slice(1)).toEqual([{ of: 'a', switch: NAME }]);
});

test.for(['', '1', 'on', '5000:', ':1', '5000:1:2', '-5:1', '9'.repeat(40), '{"until":1}'])(
  'what somebody else has written there changes nothing: %j',
  (value) => {
    const { a, log } = openTwo();
    a.merge(
      new Map([
        [NAME, value],
        ['unknown', '9000:9000'],
      ]),
    );
    expect([a.isOn(NAME), log]).toEqual([false, []]);
  },
);
