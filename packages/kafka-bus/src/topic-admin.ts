import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import type { BusSettings } from './bus-settings.ts';
import { createKafkaClient } from './kafka-client.ts';

const REQUEST_TIMEOUT_MS = 10_000;
const LEADERS_LIMIT_MS = 10_000;
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

const haveLeaders = async (admin: Admin, topics: string[]): Promise<boolean> => {
  const found = await admin.fetchTopicMetadata({ topics });
  return found.topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0));
};

/**
 * A broker may not have heard of a topic for a moment after it was created. The client's own wait for leaders takes that
 * for a failure.
 */
const untilTheyHaveLeaders = async (admin: Admin, topics: string[]): Promise<void> => {
  const deadline = performance.now() + LEADERS_LIMIT_MS;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      if (await haveLeaders(admin, topics)) return;
    } catch (error) {
      last = error;
    }
    await delay(LOOK_MS);
  }
  throw new Error(`No leaders for ${topics.join(', ')} within ${LEADERS_LIMIT_MS} ms`, { cause: last });
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
    await untilTheyHaveLeaders(
      admin,
      missing.map(({ topic }) => topic),
    );
  });

/** Removes topics with all that is in them. */
export const deleteTopics = (brokers: BusSettings['brokers'], topics: readonly string[]): Promise<void> =>
  withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [...topics] }));
