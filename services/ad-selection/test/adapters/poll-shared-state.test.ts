import type { SharedReading } from '@adcap/redis-windows';
import { waitFor } from '@adcap/testkit';
import { expect, test } from 'vitest';
import { pollSharedState } from '../../src/adapters/poll-shared-state.ts';

const NOTHING = { partitions: undefined, at: new Map() };
const reading: SharedReading = {
  epoch: 1,
  applied: { history: NOTHING, quota: NOTHING },
  switches: new Map(),
};

/** A poll of a store that answers, fails, or does not answer. */
const openPoll = (read: () => Promise<SharedReading>) => {
  const seen = { asked: 0, readings: 0, turns: 0, epoch: 1 };
  const poll = pollSharedState({
    state: {
      epoch: () => seen.epoch,
      read: () => {
        seen.asked += 1;
        return read();
      },
    },
    onReading: () => (seen.readings += 1),
    onTurn: () => (seen.turns += 1),
  });
  return { poll, seen };
};

test('reads at once, and again by itself', async () => {
  const { poll, seen } = openPoll(() => Promise.resolve(reading));
  await poll.first;
  expect(seen).toMatchObject({ asked: 1, readings: 1 });
  await waitFor(() => seen.readings >= 3, { what: 'more readings' });
  await poll.close();
});

test('decisions in a row share one reading; behind a reconnect the next one reads', async () => {
  const { poll, seen } = openPoll(() => Promise.resolve(reading));
  await poll.first;
  for (let decision = 0; decision < 100; decision += 1) poll.refresh();
  expect(seen.asked).toBe(1);
  seen.epoch += 1;
  for (let decision = 0; decision < 100; decision += 1) poll.refresh();
  expect(seen.asked).toBe(2);
  await poll.close();
});

test('a store that does not answer is asked once, and one that fails is asked again', async () => {
  const { promise: never, resolve } = Promise.withResolvers<SharedReading>();
  const hanging = openPoll(() => never);
  const failing = openPoll(() => Promise.reject(new Error('away')));
  await failing.poll.first;
  await waitFor(() => hanging.seen.turns >= 3 && failing.seen.asked >= 3, { what: 'some turns' });
  expect([hanging.seen.asked, failing.seen.readings]).toEqual([1, 0]);
  resolve(reading);
  await Promise.all([hanging.poll.close(), failing.poll.close()]);
});
