import { describe, expect, test } from 'vitest';
import { PastRules } from '../src/past-rules.ts';
import { aRecord, aRule } from './feed-fixtures.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = 1_764_590_400_000;

const createPast = (nowMs: () => number = () => NOON) => {
  const past = new PastRules({ retentionMs: DAY }, nowMs);
  return {
    note: (version: number, publishedAt: number) =>
      past.note(JSON.stringify(aRecord(version, { publishedAt }))),
    raw: (json: string, isExpected?: (version: number) => boolean) => past.note(json, isExpected),
    at: (instant: number, newest: number) => past.at(instant, newest)?.version,
  };
};

describe('the rules in force at an instant', () => {
  test('are the last version published until then, to the millisecond, in whatever order they came', () => {
    const past = createPast();
    for (const version of [3, 1, 2]) past.note(version, NOON + version);
    expect([0, 1, 2, 3, 4].map((after) => past.at(NOON + after, 3))).toEqual([undefined, 1, 2, 3, 3]);
  });

  test('are those of the higher version where two clocks disagree', () => {
    const past = createPast();
    past.note(1, NOON);
    past.note(2, NOON + 2_000);
    past.note(3, NOON + 1_000);
    expect([500, 1_500, 2_500].map((after) => past.at(NOON + after, 3))).toEqual([1, 3, 3]);
  });

  test('are not known while a version may have been between', () => {
    const past = createPast();
    past.note(1, NOON);
    past.note(3, NOON + 2_000);
    expect([past.at(NOON, 3), past.at(NOON + 2_000, 3)]).toEqual([undefined, 3]);
  });

  test('are not those of a version that is only arriving, nor of one that today’s laws refuse', () => {
    const past = createPast();
    past.note(1, NOON);
    past.raw(
      JSON.stringify(
        aRecord(2, { publishedAt: NOON + 1_000, rules: [aRule({ limit: { max: 1, window: '2d' } })] }),
      ),
    );
    expect(past.at(NOON + 1_500, 1)).toBe(1);
    past.note(3, NOON + 2_000);
    expect([500, 1_500, 2_500].map((after) => past.at(NOON + after, 3))).toEqual([1, undefined, 3]);
  });

  test.for([
    ['what is not JSON', '{'],
    ['null', 'null'],
    ['a record without a version', JSON.stringify({ ...aRecord(2), version: undefined })],
    ['a record under another version’s key', JSON.stringify(aRecord(2))],
  ] as const)('%s is passed over', ([, json]) => {
    const past = createPast();
    past.note(1, NOON);
    past.raw(json, (version) => version === 7);
    expect(past.at(NOON, 1)).toBe(1);
  });

  test('are forgotten when they were superseded before the retention', () => {
    let now = NOON;
    const past = createPast(() => now);
    past.note(1, NOON - 2 * HOUR);
    past.note(2, NOON - HOUR);
    now = NOON - HOUR + DAY;
    expect(past.at(NOON - HOUR - 1, 2)).toBe(1);
    now += 1;
    expect([past.at(NOON - HOUR - 1, 2), past.at(NOON - HOUR, 2)]).toEqual([undefined, 2]);
  });

  test('are at most a hundred versions', () => {
    const past = createPast();
    for (let version = 1; version <= 101; version += 1) past.note(version, NOON + version);
    expect([past.at(NOON + 1, 101), past.at(NOON + 2, 101)]).toEqual([undefined, 2]);
  });

  test('are at most 64 million characters of text, the newest first', () => {
    const past = createPast();
    const note = 'x'.repeat(30 * 1_048_576);
    for (const version of [1, 2, 3]) {
      past.raw(JSON.stringify({ ...aRecord(version, { publishedAt: NOON + version }), padding: note }));
    }
    expect([past.at(NOON + 1, 3), past.at(NOON + 2, 3)]).toEqual([undefined, 2]);
  });
});
