import { freePort, test } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { createProducer } from '../src/producer.ts';
import { type NewestOptions, readNewest } from '../src/read-newest.ts';
import { createTopic } from './kafka-topics.ts';
import { quietLogger } from './quiet-logger.ts';

const LIMITS = { maxRecords: 100, maxBytes: 1e6, timeoutMs: 20_000 };

const aTopic = async (
  brokers: string,
  topic: string,
  count: number,
): Promise<Pick<NewestOptions, 'bus' | 'topic'>> => {
  const bus = { brokers: [brokers], clientId: 'test', logger: quietLogger };
  await createTopic(brokers, topic, 2);
  const producer = createProducer({ bus, topics: [topic] });
  await producer.send(
    topic,
    Array.from({ length: count }, (_, index) => ({ key: `device ${index % 20}`, value: `${index}` })),
  );
  await producer.close();
  return { bus, topic };
};

const valuesOf = (records: readonly { value: Buffer | null }[]): number[] =>
  records.map(({ value }) => Number(value?.toString())).toSorted((a, b) => a - b);

describe('readNewest', () => {
  test('everything where there is no more', async ({ kafkaBrokers, topicPrefix }) => {
    const topic = await aTopic(kafkaBrokers, `${topicPrefix}decisions`, 40);
    const { records, isComplete } = await readNewest({ ...topic, ...LIMITS });
    expect(valuesOf(records)).toEqual(Array.from({ length: 40 }, (_, index) => index));
    expect(isComplete).toBe(true);
  });

  test('the last ones of each partition where there is more', async ({ kafkaBrokers, topicPrefix }) => {
    const topic = await aTopic(kafkaBrokers, `${topicPrefix}decisions`, 400);
    const { records, isComplete } = await readNewest({ ...topic, ...LIMITS, maxRecords: 40 });
    expect(records.length).toBe(40);
    expect([0, 1].map((partition) => records.filter((one) => one.partition === partition).length)).toEqual([
      20, 20,
    ]);
    expect(valuesOf(records).at(-1)).toBe(399);
    expect(isComplete).toBe(true);
  });

  test('no more bytes than were asked for', async ({ kafkaBrokers, topicPrefix }) => {
    const topic = await aTopic(kafkaBrokers, `${topicPrefix}decisions`, 400);
    const { records, isComplete } = await readNewest({ ...topic, ...LIMITS, maxRecords: 400, maxBytes: 100 });
    const bytes = records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
    expect(bytes).toBeGreaterThanOrEqual(100);
    expect(bytes).toBeLessThan(100 + 20);
    expect(isComplete).toBe(false);
  });

  test('an empty topic has none, and nothing is waited for', async ({ kafkaBrokers, topicPrefix }) => {
    const topic = await aTopic(kafkaBrokers, `${topicPrefix}decisions`, 0);
    expect(await readNewest({ ...topic, ...LIMITS })).toEqual({ records: [], isComplete: true });
  });

  test('brokers that are away are named', async () => {
    const bus = { brokers: [`127.0.0.1:${await freePort()}`], clientId: 'test', logger: quietLogger };
    await expect(readNewest({ bus, topic: 'decisions', ...LIMITS })).rejects.toMatchObject({
      code: 'ADCAP_BUS_UNAVAILABLE',
    });
  });
});
