import { test, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { BusOverloaded, BusRefused, BusUnavailable } from '../src/bus-errors.ts';
import { createProducer } from '../src/producer.ts';
import { createTopic, readAll } from './kafka-topics.ts';
import { quietLogger } from './quiet-logger.ts';

const busAt = (brokers: string) => ({ brokers: [brokers], clientId: 'test', logger: quietLogger });

const cpuMsOfASecond = async (): Promise<number> => {
  const before = process.cpuUsage();
  const startedAtMs = performance.now();
  await waitFor(() => performance.now() - startedAtMs > 1_000, { what: 'a second' });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

describe('createProducer', () => {
  test('B44 500 parallel sends of distinct messages are 500 distinct messages in the topic', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const topic = `${topicPrefix}views`;
    await createTopic(kafkaBrokers, topic, 3);
    const producer = createProducer({ bus: busAt(kafkaBrokers), topics: [topic] });
    const ids = Array.from({ length: 500 }, (_, index) => `view-${index}`);
    await Promise.all(ids.map((id) => producer.send(topic, [{ key: id, value: id }])));
    expect(producer.pending).toBe(0);
    await producer.close();
    const written = await readAll(kafkaBrokers, topic);
    expect(written).toHaveLength(500);
    expect(new Set(written.map(({ value }) => value?.toString()))).toEqual(new Set(ids));
  });

  // Partitions that org.apache.kafka.common.utils.Utils.toPositive(murmur2(key)) % 6 of the Java client gives.
  test('B54 a key lands where the Java client puts it', async ({ kafkaBrokers, topicPrefix }) => {
    const byKey: Record<string, number> = {
      'device-1': 4,
      a: 4,
      ab: 2,
      abc: 3,
      '📺-télé-视频': 4,
      ['x'.repeat(256)]: 2,
      '0f8fad5b-d9cb-469f-a165-70867728950e': 3,
    };
    const topic = `${topicPrefix}views`;
    await createTopic(kafkaBrokers, topic, 6);
    const producer = createProducer({ bus: busAt(kafkaBrokers), topics: [topic] });
    await producer.send(
      topic,
      Object.keys(byKey).map((key) => ({ key, value: '' })),
    );
    await producer.close();
    const written = await readAll(kafkaBrokers, topic);
    expect(Object.fromEntries(written.map(({ key, partition }) => [key, partition]))).toEqual(byKey);
  });

  test('a message that the brokers refuse fails its own caller alone', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const topic = `${topicPrefix}views`;
    await createTopic(kafkaBrokers, topic, 1);
    const producer = createProducer({
      bus: busAt(kafkaBrokers),
      topics: [topic],
      maxRequestBytes: 8_000_000,
    });
    const sizes = [10, 2_000_000, 20];
    const results = await Promise.allSettled(
      sizes.map((size) => producer.send(topic, [{ key: 'k', value: 'x'.repeat(size) }])),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: expect.any(BusRefused) });
    await producer.close();
    expect((await readAll(kafkaBrokers, topic)).map(({ value }) => value?.length)).toEqual([10, 20]);
  });

  test('a call larger than a request is written whole and in order', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const topic = `${topicPrefix}views`;
    await createTopic(kafkaBrokers, topic, 1);
    const producer = createProducer({ bus: busAt(kafkaBrokers), topics: [topic], gzip: true });
    const values = Array.from({ length: 300 }, (_, index) => String(index).padEnd(10_000, 'x'));
    await producer.send(
      topic,
      values.map((value) => ({ key: 'k', value })),
    );
    await producer.close();
    expect((await readAll(kafkaBrokers, topic)).map(({ value }) => value?.toString())).toEqual(values);
  });

  test('B55 a topic that is not there yet holds up nobody else and is written to once it is', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const [present, absent] = [`${topicPrefix}present`, `${topicPrefix}absent`];
    await createTopic(kafkaBrokers, present, 1);
    const producer = createProducer({
      bus: busAt(kafkaBrokers),
      topics: [present, absent],
      timeoutMs: 1_000,
    });
    const late = producer.send(absent, [{ key: null, value: 'x' }]);
    await producer.send(present, [{ key: null, value: 'x' }]);
    await expect(late).rejects.toBeInstanceOf(BusUnavailable);
    expect(producer.isHealthy()).toBe(false);
    await createTopic(kafkaBrokers, absent, 1);
    await waitFor(
      () =>
        producer.send(absent, [{ key: null, value: 'y' }]).then(
          () => true,
          () => false,
        ),
      { what: 'the new topic to be written to' },
    );
    expect(producer.isHealthy()).toBe(true);
    await producer.close();
    expect(await readAll(kafkaBrokers, present)).toHaveLength(1);
  });

  test('past the bound a send is refused at once and nothing of it is written', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const topic = `${topicPrefix}views`;
    await createTopic(kafkaBrokers, topic, 1);
    const producer = createProducer({ bus: busAt(kafkaBrokers), topics: [topic], maxPendingMessages: 2 });
    const message = { key: null, value: 'x' };
    const first = producer.send(topic, [message, message]);
    await expect(producer.send(topic, [message])).rejects.toBeInstanceOf(BusOverloaded);
    await first;
    await producer.send(topic, [message]);
    await producer.close();
    await expect(producer.send(topic, [message])).rejects.toBeInstanceOf(BusUnavailable);
    expect(await readAll(kafkaBrokers, topic)).toHaveLength(3);
  });

  test('B45 an idle connection runs no busy timer and warns of none', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const topic = `${topicPrefix}views`;
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', note);
    await createTopic(kafkaBrokers, topic, 1);
    const producer = createProducer({ bus: busAt(kafkaBrokers), topics: [topic] });
    await producer.send(topic, [{ key: null, value: 'x' }]);
    // The quietest of three seconds, so that a collector's run does not count.
    const busyMs = [await cpuMsOfASecond(), await cpuMsOfASecond(), await cpuMsOfASecond()];
    expect(Math.min(...busyMs)).toBeLessThan(20);
    await producer.close();
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
