import { type Admin, Kafka, logLevel } from 'kafkajs';

const withAdmin = async <T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> => {
  const kafka = new Kafka({
    clientId: 'adcap-local',
    brokers: brokers.split(','),
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1_000,
    retry: { retries: 0 },
  });
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
};

/** Resolves when a broker answers a real request. */
export const kafkaAnswers = (brokers: string): Promise<void> =>
  withAdmin(brokers, async (admin) => void (await admin.describeCluster()));

export type TopicSpec = { topic: string; partitions: number; config: Record<string, string> };

export type TopicOptions = {
  prefix?: string;
  replicationFactor?: number;
  /** Overrides what each topic asks for. */
  partitions?: number;
};

/** Creates the topics that do not exist yet; the others are left as they are. */
export const createTopics = (
  brokers: string,
  topics: readonly TopicSpec[],
  options: TopicOptions = {},
): Promise<void> =>
  withAdmin(brokers, async (admin) => {
    const wanted = topics.map(({ topic, partitions, config }) => ({
      topic: `${options.prefix ?? ''}${topic}`,
      numPartitions: topic.includes('.rules.') ? partitions : (options.partitions ?? partitions),
      replicationFactor: options.replicationFactor ?? 1,
      configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
    }));
    const existing = new Set(await admin.listTopics());
    const missing = wanted.filter(({ topic }) => !existing.has(topic));
    if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: true });
  });

export const deleteTopics = (brokers: string, topics: readonly string[]): Promise<void> =>
  withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [...topics] }));
