import { startOwnKafka, test, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { BusUnavailable } from '../src/bus-errors.ts';
import { followCompactedTopic } from '../src/compacted-follower.ts';
import { createProducer } from '../src/producer.ts';
import { consumerBench, countingStore } from './consumer-bench.ts';
import { quietLogger } from './quiet-logger.ts';

describe('brokers that go away', () => {
  test('B46 sends settle while they are paused or gone; producer, consumer and follower are back by themselves', {
    timeout: 180_000,
  }, async ({ topicPrefix }) => {
    await using kafka = await startOwnKafka();
    const bench = await consumerBench(kafka.address, topicPrefix, 1);
    const bus = { brokers: [kafka.address], clientId: 'test', logger: quietLogger };
    const producer = createProducer({ bus, topics: [bench.topic], timeoutMs: 1_000 });
    const send = (id: string): Promise<void> =>
      producer.send(bench.topic, [{ key: id, value: JSON.stringify({ v: 1, id }) }]);
    const { handler, counts, positions } = countingStore();
    const consumer = bench.consume('g', handler, { positions });
    const followed: string[] = [];
    const follower = followCompactedTopic({
      bus,
      topic: bench.topic,
      onRecord: (key) => followed.push(String(key)),
    });
    await send('first');
    await waitFor(() => counts.has('first') && followed.includes('first'), { what: 'the first message' });

    // When the broker answers no more, though its connections stay.
    await kafka.pause();
    const startedAtMs = Date.now();
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => send(`paused-${index}`)),
    );
    expect(Date.now() - startedAtMs).toBeLessThan(3_000);
    expect(
      results.map((result) => result.status === 'rejected' && result.reason instanceof BusUnavailable),
    ).not.toContain(false);
    expect(producer.pending).toBe(0);
    await waitFor(() => !producer.isHealthy(), { what: 'health to tell' });
    await kafka.resume();
    await waitFor(() => producer.isHealthy(), { what: 'the producer to be back without a send' });
    await send('resumed');
    await waitFor(() => counts.has('resumed') && followed.includes('resumed'), {
      what: 'the message after the pause',
      timeoutMs: 30_000,
    });

    // When the broker is gone, longer than kafkajs tries by itself.
    await kafka.stop();
    await expect(send('gone')).rejects.toBeInstanceOf(BusUnavailable);
    await waitFor(() => !consumer.isHealthy() && !follower.isHealthy(), {
      what: 'health to tell',
      timeoutMs: 60_000,
    });
    await kafka.restart();
    await waitFor(() => producer.isHealthy() && consumer.isHealthy() && follower.isHealthy(), {
      what: 'all to be back',
      timeoutMs: 60_000,
    });
    await send('back');
    await waitFor(() => counts.has('back') && followed.includes('back'), {
      what: 'the message after the outage',
      timeoutMs: 30_000,
    });
    expect(bench.fatal).toEqual([]);

    await follower.close();
    await producer.close();
    await bench.close();
  });

  test('B55 services that start first wait for the broker', { timeout: 120_000 }, async ({ topicPrefix }) => {
    await using kafka = await startOwnKafka();
    const bench = await consumerBench(kafka.address, topicPrefix, 1);
    await bench.publish(['before']);
    await kafka.stop();
    const bus = { brokers: [kafka.address], clientId: 'test', logger: quietLogger };
    const producer = createProducer({ bus, topics: [bench.topic], timeoutMs: 500 });
    const { handler, counts } = countingStore();
    bench.consume('g', handler);
    const followed: string[] = [];
    const follower = followCompactedTopic({
      bus,
      topic: bench.topic,
      onRecord: (key) => followed.push(String(key)),
    });
    await expect(producer.send(bench.topic, [{ key: 'x', value: 'x' }])).rejects.toBeInstanceOf(
      BusUnavailable,
    );
    await kafka.restart();
    await follower.caughtUp;
    expect(followed).toContain('before');
    await waitFor(() => counts.has('before') && producer.isHealthy(), {
      what: 'all to have started',
      timeoutMs: 60_000,
    });
    await follower.close();
    await producer.close();
    await bench.close();
  });
});
