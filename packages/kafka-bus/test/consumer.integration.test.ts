import { test, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { ok, retry } from '../src/outcome.ts';
import { consumerBench, countingStore, ids } from './consumer-bench.ts';
import { groupLag, readAll, writeZstd } from './kafka-topics.ts';

describe('runConsumer', () => {
  test('B50 a new group starts at the beginning', async ({ kafkaBrokers, topicPrefix }) => {
    const bench = await consumerBench(kafkaBrokers, topicPrefix);
    await bench.publish(ids('early', 100));
    const { handler, counts } = countingStore();
    const consumer = bench.consume('g', handler);
    await waitFor(() => counts.size === 100, { what: 'the early views' });
    expect(consumer.isHealthy()).toBe(true);
    await waitFor(async () => (await groupLag(kafkaBrokers, bench.groupOf('g'), bench.topic)) === 0n, {
      what: 'lag 0',
    });
    expect([...counts.values()].every((count) => count === 1)).toBe(true);
    await bench.close();
  });

  test('B47 what cannot be read is set aside once, the rest counts, and a restart does not revisit it', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const bench = await consumerBench(kafkaBrokers, topicPrefix, 1);
    const poison: (string | Buffer | null)[] = [
      null,
      '',
      'not json',
      '[]',
      '{"v":99}',
      '{"v":1,"id":7}',
      Buffer.from([0xff, 0xfe, 0x00]),
      'x'.repeat(900_000),
    ];
    for (const [index, value] of poison.entries()) {
      await bench.publish([`before-${index}`]);
      await bench.producer.send(bench.topic, [{ key: index % 2 === 0 ? null : 'k', value }]);
    }
    await bench.publish(['last']);

    const { handler, counts } = countingStore();
    const consumer = bench.consume('g', handler);
    await waitFor(async () => (await groupLag(kafkaBrokers, bench.groupOf('g'), bench.topic)) === 0n, {
      what: 'lag 0',
    });
    await consumer.close();
    expect([...counts.keys()]).toEqual([...poison.map((_, index) => `before-${index}`), 'last']);
    const dead = await readAll(kafkaBrokers, bench.deadTopic);
    expect(dead.map(({ value }) => value?.length ?? null)).toEqual([null, 0, 8, 2, 8, 14, 3, 65_536]);

    await bench.publish(['after']);
    bench.consume('g', handler);
    await waitFor(() => counts.has('after'), { what: 'the view after the restart' });
    expect([...counts.values()].every((count) => count === 1)).toBe(true);
    expect(await readAll(kafkaBrokers, bench.deadTopic)).toHaveLength(poison.length);
    expect(bench.fatal).toEqual([]);
    await bench.close();
  });

  test('a batch that cannot be applied yet is not committed, and is applied when it can be', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const bench = await consumerBench(kafkaBrokers, topicPrefix, 1);
    let isAway = true;
    const { handler, store } = countingStore(({ events }) =>
      isAway ? events.map(() => retry('away')) : undefined,
    );
    const consumer = bench.consume('g', handler);
    await bench.publish(ids('view', 10));
    await waitFor(() => store.batches >= 10, { what: 'ten attempts' });
    expect(await groupLag(kafkaBrokers, bench.groupOf('g'), bench.topic)).toBe(10n);
    expect(consumer.isStuck(Date.now(), 5_000)).toBe(false);
    isAway = false;
    await waitFor(async () => (await groupLag(kafkaBrokers, bench.groupOf('g'), bench.topic)) === 0n, {
      what: 'lag 0',
    });
    expect(store.counts.size).toBe(10);
    await bench.close();
  });

  test('B53 a compression that cannot be read ends the consumer with advice', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const bench = await consumerBench(kafkaBrokers, topicPrefix, 1);
    await writeZstd(kafkaBrokers, bench.topic, '{"v":1,"id":"zstd"}');
    const { handler } = countingStore();
    const consumer = bench.consume('g', handler);
    await waitFor(() => bench.fatal.length > 0, { what: 'the fatal error' });
    expect(String(bench.fatal[0])).toContain('set compression.type of the topic to gzip or uncompressed');
    expect(consumer.isHealthy()).toBe(false);
    await bench.close();
  });

  test('a handler that throws ends the consumer with nothing committed', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const bench = await consumerBench(kafkaBrokers, topicPrefix, 1);
    const bug = new Error('bug');
    const { handler, counts } = countingStore();
    const consumer = bench.consume('g', { ...handler, applyBatch: () => Promise.reject(bug) });
    await bench.publish(['view']);
    await waitFor(() => bench.fatal.length > 0, { what: 'the fatal error' });
    expect(bench.fatal).toEqual([bug]);
    expect(consumer.isHealthy()).toBe(false);
    await consumer.close();
    expect(await groupLag(kafkaBrokers, bench.groupOf('g'), bench.topic)).toBe(1n);
    bench.consume('g', handler);
    await waitFor(() => counts.has('view'), { what: 'the view by the next process' });
    await bench.close();
  });

  test('B56 a handler that hangs is stuck, and the age of its oldest message shows', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const bench = await consumerBench(kafkaBrokers, topicPrefix, 1);
    const { handler } = countingStore();
    const freed = Promise.withResolvers<void>();
    const consumer = bench.consume('g', {
      ...handler,
      applyBatch: async ({ events }) => {
        await freed.promise;
        return events.map(() => ok);
      },
    });
    await bench.publish(['view']);
    const age = (): number | undefined => consumer.progress().get(0)?.oldestUnappliedTimestampMs;
    await waitFor(() => age() !== undefined, { what: 'a batch in hand' });
    expect(consumer.isStuck(Date.now() + 60_001, 60_000)).toBe(true);
    expect(consumer.isHealthy()).toBe(true);
    freed.resolve();
    await waitFor(() => age() === undefined, { what: 'the batch to be done' });
    expect(consumer.isStuck(Date.now() + 3_600_000, 60_000)).toBe(false);
    await bench.close();
  });

  test('B49 members that come and go lose nothing', async ({ kafkaBrokers, topicPrefix }) => {
    const bench = await consumerBench(kafkaBrokers, topicPrefix, 4);
    const { handler, store, positions } = countingStore();
    const all = ids('view', 4_000);
    bench.consume('g', handler, { positions, maxBatchMessages: 50 });
    const publishing = (async () => {
      for (let start = 0; start < all.length; start += 50) await bench.publish(all.slice(start, start + 50));
    })();
    for (let round = 0; round < 2; round += 1) {
      const guest = bench.consume('g', handler, { positions, maxBatchMessages: 50 });
      await waitFor(() => guest.isHealthy() && guest.progress().size > 0, {
        what: 'the guest to get partitions',
      });
      await guest.close();
    }
    await publishing;
    await waitFor(async () => (await groupLag(kafkaBrokers, bench.groupOf('g'), bench.topic)) === 0n, {
      what: 'lag 0',
      timeoutMs: 30_000,
    });
    expect(store.counts.size).toBe(all.length);
    expect(bench.fatal).toEqual([]);
    await bench.close();
  });
});
