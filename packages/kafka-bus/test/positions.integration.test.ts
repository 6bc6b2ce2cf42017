import { test, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import type { AppliedPositions } from '../src/batch-handler.ts';
import { consumerBench, countingStore, ids } from './consumer-bench.ts';
import { groupLag } from './kafka-topics.ts';

const bringUp = async (kafkaBrokers: string, topicPrefix: string) => {
  const bench = await consumerBench(kafkaBrokers, topicPrefix, 2);
  const counting = countingStore();
  const lost = (): string[] => all.filter((id) => !counting.counts.has(id));
  const all = ids('view', 200);
  await bench.publish(all);
  const consumer = bench.consume('g', counting.handler, { positions: counting.positions });
  await waitFor(async () => (await groupLag(kafkaBrokers, bench.groupOf('g'), bench.topic)) === 0n, {
    what: 'lag 0',
  });
  /** The store comes back as it was some messages ago. */
  const restoreOlder = (): void => {
    for (const [partition, offset] of counting.applied) counting.applied.set(partition, offset / 2n);
    counting.counts.clear();
  };
  return { bench, counting, consumer, all, lost, restoreOlder };
};

describe('a store that comes back older than the offsets (law 15)', () => {
  test('is filled up again on assignment, with nothing new produced', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const { bench, counting, consumer, restoreOlder } = await bringUp(kafkaBrokers, topicPrefix);
    const ends = new Map(counting.applied);
    await consumer.close();
    restoreOlder();
    const from = new Map(counting.applied);
    bench.consume('g', counting.handler, { positions: counting.positions });
    await waitFor(() => [...ends].every(([partition, end]) => counting.applied.get(partition) === end), {
      what: 'the applied offsets',
    });
    const missing = [...ends].reduce(
      (sum, [partition, end]) => sum + Number(end - (from.get(partition) ?? 0n)),
      0,
    );
    expect(counting.counts.size).toBe(missing);
    await bench.close();
  });

  test('is filled up again after a reconnect, with nothing new produced', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const { bench, counting, restoreOlder } = await bringUp(kafkaBrokers, topicPrefix);
    const ends = new Map(counting.applied);
    restoreOlder();
    counting.store.epoch += 1;
    await waitFor(() => [...ends].every(([partition, end]) => counting.applied.get(partition) === end), {
      what: 'the applied offsets',
    });
    expect(counting.counts.size).toBeGreaterThanOrEqual(100);
    await bench.close();
  });

  test('that is empty is filled from the start of the log, under traffic', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const { bench, counting, all, lost } = await bringUp(kafkaBrokers, topicPrefix);
    const more = ids('more', 300);
    const publishing = (async () => {
      for (const id of more) await bench.publish([id]);
    })();
    await waitFor(() => counting.counts.has('more-20'), { what: 'some of the traffic' });
    counting.applied.clear();
    counting.counts.clear();
    counting.store.epoch += 1;
    await publishing;
    await waitFor(() => [...all, ...more].every((id) => counting.counts.has(id)), { what: 'every view' });
    expect(lost()).toEqual([]);
    await bench.close();
  });

  test('under a consumer that is idle is told once a second what is applied, and filled again when it raises its epoch', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const bench = await consumerBench(kafkaBrokers, topicPrefix, 2);
    const counting = countingStore();
    const all = ids('view', 100);
    await bench.publish(all);
    const beats: Parameters<NonNullable<AppliedPositions['noteCaughtUp']>>[0][] = [];
    bench.consume('g', counting.handler, {
      positions: {
        ...counting.positions,
        noteCaughtUp: (beat) => {
          beats.push(beat);
          // As a store does that no longer has what was written to it.
          const isLost = beat.caughtUp.some(({ partition, nextOffset }) => {
            const stored = counting.applied.get(partition);
            return stored !== undefined && stored !== nextOffset;
          });
          if (isLost) counting.store.epoch += 1;
          return Promise.resolve();
        },
      },
    });
    const isAtEnd = (): boolean => beats.at(-1)?.caughtUp.length === 2;
    await waitFor(() => counting.counts.size === 100 && isAtEnd(), { what: 'a beat of both partitions' });
    expect(beats.at(-1)).toMatchObject({ epoch: 1, partitions: 2 });
    const stored = new Map(counting.applied);
    expect(new Map(beats.at(-1)?.caughtUp.map((at) => [at.partition, at.nextOffset]))).toEqual(stored);
    counting.counts.clear();
    for (const partition of stored.keys()) counting.applied.set(partition, 0n);
    await waitFor(() => counting.counts.size === 100, { what: 'every view again' });
    await bench.close();
  });

  test('that cannot be read gets nothing applied, and all of it when it can', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const bench = await consumerBench(kafkaBrokers, topicPrefix, 2);
    const counting = countingStore();
    let reads = 0;
    let isAway = true;
    bench.consume('g', counting.handler, {
      positions: {
        epoch: () => 1,
        read: () => {
          reads += 1;
          return isAway ? Promise.reject(new Error('the store is away')) : counting.positions.read();
        },
      },
    });
    await bench.publish(ids('view', 50));
    await waitFor(() => reads > 3, { what: 'some reads' });
    expect(counting.store.batches).toBe(0);
    isAway = false;
    await waitFor(() => counting.counts.size === 50, { what: 'every view' });
    await bench.close();
  });
});
