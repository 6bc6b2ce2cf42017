import { randomBytes } from 'node:crypto';
import { createTopics, deleteTopics, loadTopics } from '@adcap/local-servers';
import { Redis } from 'ioredis';
import { test as base, inject } from 'vitest';

/** A few partitions are enough to have devices on different ones. */
const PARTITIONS = 3;

export type Fixtures = {
  redisUrl: string;
  /** A client of its own for looking at what the code under test left. */
  redis: Redis;
  /** Clients of a server of one's own, ended with the test. */
  ownClient: (url: string) => Redis;
  /** A random prefix for keys; what lies under it is removed afterwards. */
  keyPrefix: string;
  kafkaBrokers: string;
  /** A random prefix for topics and groups. */
  topicPrefix: string;
  /** The suite's topics under the prefix, by their full names; removed afterwards. */
  topics: readonly string[];
};

const removeKeys = async (redis: Redis, prefix: string): Promise<void> => {
  for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    if (Array.isArray(keys) && keys.length > 0) await redis.unlink(...keys);
  }
};

/** Real servers, and a namespace of its own for each test. */
export const test = base.extend<Fixtures>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the fixture's dependencies from this pattern
  redisUrl: async ({}, use) => use(inject('redisUrl')),
  redis: async ({ redisUrl }, use) => {
    const redis = new Redis(redisUrl);
    await use(redis);
    redis.disconnect();
  },
  // oxlint-disable-next-line no-empty-pattern -- as above
  ownClient: async ({}, use) => {
    const clients: Redis[] = [];
    await use((url) => {
      const client = new Redis(url);
      client.on('error', () => undefined);
      clients.push(client);
      return client;
    });
    for (const client of clients) client.disconnect();
  },
  keyPrefix: async ({ redis }, use) => {
    const prefix = `t${randomBytes(6).toString('hex')}:`;
    await use(prefix);
    await removeKeys(redis, prefix);
  },
  // oxlint-disable-next-line no-empty-pattern -- as above
  kafkaBrokers: async ({}, use) => use(inject('kafkaBrokers')),
  // oxlint-disable-next-line no-empty-pattern -- as above
  topicPrefix: async ({}, use) => use(`t${randomBytes(6).toString('hex')}.`),
  topics: async ({ kafkaBrokers, topicPrefix }, use) => {
    const specs = await loadTopics();
    await createTopics(kafkaBrokers, specs, { prefix: topicPrefix, partitions: PARTITIONS });
    const names = specs.map(({ topic }) => `${topicPrefix}${topic}`);
    await use(names);
    await deleteTopics(kafkaBrokers, names);
  },
});
