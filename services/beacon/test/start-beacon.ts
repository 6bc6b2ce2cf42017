import { type ImpressionEvent, impressionEventSchema, topicName } from '@adcap/contracts';
import { createProducer, followCompactedTopic, type Producer } from '@adcap/kafka-bus';
import { connectRedis, createDoneMarks, createKeys } from '@adcap/redis-windows';
import {
  createHealth,
  createLogger,
  createMetricsRegistry,
  listen,
  loadConfig,
  systemClock,
} from '@adcap/service-runtime';
import { createImpressionBus } from '../src/adapters/impression-bus.ts';
import { createInsuredMarks } from '../src/adapters/insured-marks.ts';
import { type AppDeps, buildApp } from '../src/app.ts';
import { configSchema } from '../src/config.ts';
import { createMetrics } from '../src/metrics.ts';
import { reservationTokens } from './beacon-fixtures.ts';
import { createInMemoryMarks } from './in-memory-marks.ts';

const logger = createLogger({ name: 'beacon-test', level: 'silent' });

export const testConfig = (env: Readonly<Record<string, string>> = {}) =>
  loadConfig(configSchema, { ADCAP_RESERVATION_KEYS: 'k1:a secret for the tests', ...env });

/** The beacon with a bus and marks in memory, for what HTTP alone decides. */
export const buildTestApp = async (overrides: Partial<AppDeps> = {}) => {
  const registry = createMetricsRegistry();
  const published: ImpressionEvent[] = [];
  const app = await buildApp({
    config: testConfig(),
    logger,
    clock: systemClock,
    registry,
    health: createHealth(),
    metrics: createMetrics(registry, () => 0),
    publish: async (events) => {
      published.push(...events);
    },
    marks: createInMemoryMarks(),
    tokens: reservationTokens,
    random: () => 0.5,
    ...overrides,
  });
  return { app, published, registry };
};

type Servers = { kafkaBrokers: string; redisUrl: string; topicPrefix: string; keyPrefix: string };

/** The beacon on real servers, listening on a free port, closed by `await using`. */
export const startBeacon = async (servers: Servers, env: Readonly<Record<string, string>> = {}) => {
  await using stack = new AsyncDisposableStack();
  const config = testConfig({
    KAFKA_BROKERS: servers.kafkaBrokers,
    ADCAP_TOPIC_PREFIX: servers.topicPrefix,
    ADCAP_BEACON_MARKS_DEADLINE_MS: '1000',
    ...env,
  });
  const redis = stack.adopt(
    connectRedis({ url: servers.redisUrl, name: 'beacon-test', logger, role: 'decision' }),
    (connection) => connection.close(),
  );
  const producer: Producer = stack.adopt(
    createProducer({
      bus: { brokers: config.KAFKA_BROKERS, clientId: 'beacon-test', logger },
      topics: [topicName('impressions', servers.topicPrefix)],
      timeoutMs: config.ADCAP_BEACON_PUBLISH_TIMEOUT_MS,
    }),
    (opened) => opened.close(),
  );
  let markFailures = 0;
  const { app, registry } = await buildTestApp({
    config,
    publish: createImpressionBus(producer, servers.topicPrefix),
    marks: createInsuredMarks({
      store: createDoneMarks(redis, createKeys(servers.keyPrefix)),
      deadlineMs: config.ADCAP_BEACON_MARKS_DEADLINE_MS,
      onFailure: () => {
        markFailures += 1;
      },
    }),
  });
  stack.defer(() => app.close());
  const address = await listen(app, { host: '127.0.0.1', port: 0 });
  await redis.whenReady();
  const owned = stack.move();
  return {
    address,
    app,
    registry,
    redis,
    producer,
    markFailures: () => markFailures,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};

export type StoredImpression = { key: string | null; partition: number; event: ImpressionEvent };

/** Everything that is on the impressions topic now. */
export const readImpressions = async (
  servers: Pick<Servers, 'kafkaBrokers' | 'topicPrefix'>,
): Promise<StoredImpression[]> => {
  const stored: StoredImpression[] = [];
  const follower = followCompactedTopic({
    bus: { brokers: [servers.kafkaBrokers], clientId: 'beacon-test-reader', logger },
    topic: topicName('impressions', servers.topicPrefix),
    onRecord: (key, value, { partition }) => {
      const event = impressionEventSchema.parse(JSON.parse(value?.toString('utf8') ?? 'null'));
      stored.push({ key, partition, event });
    },
  });
  await follower.caughtUp;
  await follower.close();
  return stored;
};

/** The value of one series, 0 where it has never been touched. */
export const metricValue = async (
  registry: AppDeps['registry'],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> => {
  const metric = await registry.getSingleMetric(name)?.get();
  const found = metric?.values.find((entry) =>
    Object.entries(labels).every(([label, value]) => entry.labels[label] === value),
  );
  return found?.value ?? 0;
};
