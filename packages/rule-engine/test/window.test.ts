import { epochMs } from '@adcap/contracts';
import { describe, expect, test } from 'vitest';
import { aRule, cap, clock, evaluate, minutes, NINE } from './support.ts';

const sneaker = { creative: 'sneaker-30', industries: [] };
const threeAnHour = [aRule({ id: 'hourly', dimension: 'creative', limit: cap('3/60m') })];
const morning = ['08:12', '08:40', '08:55'].map((time) => ({ ...sneaker, at: clock(time) }));

describe('law 1: an impression at t counts for T when T − W < t ≤ T', () => {
  test.for([
    { at: '09:00', allowed: false, remaining: 0, next: '09:12' },
    { at: '09:12', allowed: true, remaining: 1, next: undefined },
    { at: '08:30', allowed: true, remaining: 2, next: undefined },
  ])('3/60m after 08:12, 08:40, 08:55 at $at: allowed $allowed', ({ at, allowed, remaining, next }) => {
    const evaluation = evaluate({ rules: threeAnHour, watched: morning, at: clock(at) }, sneaker);
    expect(evaluation).toMatchObject({ allowed, remaining });
    expect(evaluation.nextAllowedAt).toBe(next === undefined ? undefined : clock(next));
  });

  test.for([
    { name: 'one ms younger than the window', age: minutes(60) - 1, remaining: 2 },
    { name: 'exactly as old as the window', age: minutes(60), remaining: 3 },
    { name: 'in the same ms', age: 0, remaining: 2 },
    { name: 'one ms later', age: -1, remaining: 3 },
  ])('an impression $name leaves $remaining', ({ age, remaining }) => {
    const watched = [{ ...sneaker, at: NINE - age }];
    expect(evaluate({ rules: threeAnHour, watched }, sneaker).remaining).toBe(remaining);
  });

  test('B03 the last part of a window still counts, in whatever order it is asked', () => {
    const rules = [aRule({ dimension: 'creative', limit: cap('2/60m') })];
    const watched = [NINE, NINE + 1].map((at) => ({ ...sneaker, at }));
    const remainingAt = (ms: number) =>
      evaluate({ rules, watched, at: epochMs(NINE + ms) }, sneaker).remaining;
    expect([3_600_001, 3_599_999, 3_600_000].map(remainingAt)).toEqual([2, 0, 1]);
  });
});

const reservedAt = (at: number) => [{ ...sneaker, at }];

describe('law 10: a grant at T must not overfill a later reserved instant', () => {
  const rules = [aRule({ id: 'one', dimension: 'creative', limit: cap('1/60m') })];

  test.for([
    { name: 'inside the window after T', offset: minutes(60) - 1, remaining: 0 },
    { name: 'a whole window after T', offset: minutes(60), remaining: 1 },
    { name: 'a ms after T', offset: 1, remaining: 0 },
    { name: 'at T', offset: 0, remaining: 0 },
    { name: 'a whole window before T', offset: -minutes(60), remaining: 1 },
  ])('a reservation $name leaves $remaining', ({ offset, remaining }) => {
    expect(evaluate({ rules, reserved: reservedAt(NINE + offset) }, sneaker).remaining).toBe(remaining);
  });

  test('the standing names the instant that decides', () => {
    const later = NINE + minutes(30);
    const { binding } = evaluate({ rules, reserved: reservedAt(later) }, sneaker);
    expect(binding?.standing).toEqual({ used: 0, reserved: 1, at: later, room: 0 });
  });

  test('a reservation of another ad changes nothing, though impressions lie between', () => {
    const other = { creative: 'other', industries: [], at: NINE + minutes(45) };
    const watched = [{ ...sneaker, at: NINE + minutes(30) }];
    expect(evaluate({ rules, watched, reserved: [other] }, sneaker).remaining).toBe(1);
  });

  test('the next allowed instant looks past later reservations', () => {
    const watched = [{ ...sneaker, at: NINE - minutes(10) }];
    const reserved = reservedAt(NINE + minutes(70));
    expect(evaluate({ rules, watched, reserved }, sneaker).nextAllowedAt).toBe(NINE + minutes(130));
  });
});
