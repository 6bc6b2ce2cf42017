import type { AppliedPositions, Batch, BatchHandler } from '../src/batch-handler.ts';
import { type Consumer, type ConsumerOptions, runConsumer } from '../src/consumer.ts';
import { type Outcome, ok } from '../src/outcome.ts';
import { createProducer, type Producer } from '../src/producer.ts';
import { createTopic } from './kafka-topics.ts';
import { quietLogger } from './quiet-logger.ts';

export type View = { v: 1; id: string };

const isView = (value: unknown): value is View =>
  typeof value === 'object' &&
  value !== null &&
  'v' in value &&
  value.v === 1 &&
  'id' in value &&
  typeof value.id === 'string';

/** A topic with its dead letters, a producer, and handlers that remember what they applied. */
export const consumerBench = async (brokers: string, prefix: string, partitions = 2) => {
  const topic = `${prefix}views`;
  const deadTopic = `${prefix}views.dlq`;
  await createTopic(brokers, topic, partitions);
  await createTopic(brokers, deadTopic, 1);
  const bus = { brokers: [brokers], clientId: 'test', logger: quietLogger };
  const producer = createProducer({ bus, topics: [topic, deadTopic] });
  const consumers: Consumer[] = [];
  const fatal: unknown[] = [];

  const consume = (
    groupId: string,
    handler: BatchHandler<View>,
    more: Partial<ConsumerOptions<View>> = {},
  ): Consumer => {
    const consumer = runConsumer<View>({
      bus,
      topic,
      groupId: `${prefix}${groupId}`,
      handler,
      deadLetter: { producer, topic: deadTopic, undecodable: true },
      onFatal: (error) => fatal.push(error),
      backoff: { initialMs: 10, maxMs: 50 },
      sessionTimeoutMs: 6_000,
      commitIntervalMs: 100,
      ...more,
    });
    consumers.push(consumer);
    return consumer;
  };

  return {
    topic,
    deadTopic,
    producer,
    fatal,
    consume,
    groupOf: (groupId: string) => `${prefix}${groupId}`,
    publish: (ids: readonly string[]) => publish(producer, topic, ids),
    close: async () => {
      await Promise.all(consumers.map((consumer) => consumer.close()));
      await producer.close();
    },
  };
};

const publish = (producer: Producer, topic: string, ids: readonly string[]): Promise<void> =>
  producer.send(
    topic,
    ids.map((id) => ({ key: id, value: JSON.stringify({ v: 1, id }) })),
  );

export const ids = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);

/** A handler over a store that counts every id and keeps the applied offsets. */
export const countingStore = (answer: (batch: Batch<View>) => Outcome[] | undefined = () => undefined) => {
  const counts = new Map<string, number>();
  const applied = new Map<number, bigint>();
  const store = { counts, applied, epoch: 1, batches: 0 };
  const positions: AppliedPositions = {
    epoch: () => store.epoch,
    read: () => Promise.resolve(new Map(applied)),
  };
  const handler: BatchHandler<View> = {
    name: 'counting',
    decode: ({ value }) => {
      const parsed: unknown = JSON.parse(
        new TextDecoder('utf-8', { fatal: true }).decode(value ?? Buffer.alloc(0)),
      );
      return isView(parsed) ? { ok: true, event: parsed } : { ok: false, reason: 'no_view' };
    },
    applyBatch: (batch) => {
      store.batches += 1;
      const outcomes = answer(batch);
      if (outcomes?.some(({ kind }) => kind === 'retry') === true) return Promise.resolve(outcomes);
      for (const { event } of batch.events) counts.set(event.id, (counts.get(event.id) ?? 0) + 1);
      applied.set(batch.partition, batch.nextOffset);
      return Promise.resolve(outcomes ?? batch.events.map(() => ok));
    },
  };
  return { ...store, store, positions, handler };
};
