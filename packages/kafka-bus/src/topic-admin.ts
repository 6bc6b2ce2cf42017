import type { Admin } from 'kafkajs';
import type { BusSettings } from './bus-settings.ts';
import { createKafkaClient } from './kafka-client.ts';

const REQUEST_TIMEOUT_MS = 10_000;
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
    if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: true });
  });

/** Removes topics with all that is in them. */
export const deleteTopics = (brokers: BusSettings['brokers'], topics: readonly string[]): Promise<void> =>
  withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [...topics] }));
