import { epochMs } from '@adcap/contracts';
import type { AppliedInstants } from '@adcap/redis-windows';
import { expect, test } from 'vitest';
import { createAppliedUntil } from '../../src/adapters/applied-until.ts';

const applied = (partitions: number | undefined, ...at: (number | undefined)[]): AppliedInstants => ({
  partitions,
  at: new Map(
    at.flatMap((instant, partition) =>
      instant === undefined ? [] : [[partition, epochMs(instant)] as const],
    ),
  ),
});
const NOTHING = applied(undefined);

test.for<[string, AppliedInstants, AppliedInstants, [number | undefined, number | undefined]]>([
  ['both consumers', applied(1, 5), applied(1, 7), [7, 5]],
  ['a quota consumer that is behind', applied(1, 7), applied(1, 5), [7, 7]],
  ['no quota consumer', applied(1, 5), NOTHING, [5, 5]],
  ['no history consumer', NOTHING, applied(1, 5), [5, undefined]],
  [
    'consumers that have not said how many partitions there are',
    applied(undefined, 5),
    NOTHING,
    [undefined, undefined],
  ],
  ['nobody', NOTHING, NOTHING, [undefined, undefined]],
])('with %s, from the window and from the history', ([, history, quota, expected]) => {
  const until = createAppliedUntil(() => 1);
  until.note({ epoch: 1, applied: { history, quota }, switches: new Map() });
  expect([until.of('d1', 'quotas'), until.of('d1', 'history')]).toEqual(expected);
});

test('the oldest is that of the partition furthest behind, and not known while one is missing', () => {
  const until = createAppliedUntil(() => 1);
  expect(until.oldest()).toBeUndefined();
  const note = (history: AppliedInstants, quota: AppliedInstants) =>
    until.note({ epoch: 1, applied: { history, quota }, switches: new Map() });
  note(applied(3, 5, 9, 8), applied(3, 6, 4));
  expect(until.oldest()).toBe(6);
  note(applied(4, 5, 9, 8), applied(3, 6, 4));
  expect(until.oldest()).toBeUndefined();
});

test('behind a reconnect nothing is known until it is read again', () => {
  let epoch = 1;
  const until = createAppliedUntil(() => epoch);
  const reading = { applied: { history: applied(1, 5), quota: NOTHING }, switches: new Map() };
  until.note({ ...reading, epoch });
  epoch += 1;
  expect([until.of('d1', 'quotas'), until.oldest()]).toEqual([undefined, undefined]);
  until.note({ ...reading, epoch });
  expect(until.of('d1', 'quotas')).toBe(5);
});
