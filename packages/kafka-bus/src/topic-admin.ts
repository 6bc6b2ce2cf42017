import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import type { BusSettings } from './bus-settings.ts';
import { createKafkaClient } from './kafka-client.ts';

const REQUEST_TIMEOUT_MS = 10_000;
const SERVED_LIMIT_MS = 10_000;
const LOOK_MS = 50;
const silent = () => undefined;

/** For a one-off question to a broker; nothing is retried, so that the caller decides how long it matters. */
const withAdmin = async <T>(
  brokers: BusSettings['brokers'],
  work: (admin: Admin) => Promise<T>,
): Promise<T> => {
  const { kafka } = createKafkaClient({
    brokers,
    clientId: 'adcap-admin',
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    retry: { retries: 0 },
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
};

/** Resolves when a broker answers a real request; throws otherwise. */
export const brokersAnswer = (brokers: BusSettings['brokers']): Promise<void> =>
  withAdmin(brokers, async (admin) => void (await admin.describeCluster()));

/** A topic as infra/kafka/topics.json writes it. */
export type TopicSpec = { topic: string; partitions: number; config: Record<string, string> };

/** Asks the leader of every partition, which refuses until it knows that it is one. */
const areServed = async (admin: Admin, topics: readonly string[]): Promise<void> => {
  await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)));
};

/**
 * For a moment after a topic was created its brokers may not know of it. The client's own wait for leaders takes that for
 * a failure, and ends before all of them serve: a batch that is sent then is written in part and sent again.
 */
const untilServed = async (admin: Admin, topics: readonly string[]): Promise<void> => {
  const deadline = performance.now() + SERVED_LIMIT_MS;
  for (;;) {
    try {
      await areServed(admin, topics);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await delay(LOOK_MS);
  }
};

/** Creates the topics that do not exist yet, replicated so often; the others are left as they are. */
export const createMissingTopics = (
  brokers: BusSettings['brokers'],
  topics: readonly TopicSpec[],
  replicationFactor: number,
): Promise<void> =>
  withAdmin(brokers, async (admin) => {
    const existing = new Set(await admin.listTopics());
    const missing = topics
      .filter(({ topic }) => !existing.has(topic))
      .map(({ topic, partitions, config }) => ({
        topic,
        numPartitions: partitions,
        replicationFactor,
        configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
      }));
    if (missing.length === 0) return;
    await admin.createTopics({ topics: missing, waitForLeaders: false });
    await untilServed(
      admin,
      missing.map(({ topic }) => topic),
    );
  });

/** Removes topics with all that is in them. */
export const deleteTopics = (brokers: BusSettings['brokers'], topics: readonly string[]): Promise<void> =>
  withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [...topics] }));
