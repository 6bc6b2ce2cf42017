import { type ImpressionEvent, impressionEventSchema, topicName } from '@adcap/contracts';
import { followCompactedTopic } from '@adcap/kafka-bus';
import {
  createHealth,
  createLogger,
  createMetricsRegistry,
  loadConfig,
  systemClock,
} from '@adcap/service-runtime';
import { type AppDeps, buildApp } from '../src/app.ts';
import { configSchema } from '../src/config.ts';
import { createMetrics } from '../src/metrics.ts';
import { startBeacon } from '../src/start-beacon.ts';
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
    metrics: createMetrics(registry, { pendingMessages: () => 0 }),
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

export type Servers = { kafkaBrokers: string; redisUrl: string; topicPrefix: string; keyPrefix: string };

/** The beacon on real servers, listening on a free port, closed by `await using`. */
export const runBeacon = async (servers: Servers, env: Readonly<Record<string, string>> = {}) => {
  await using stack = new AsyncDisposableStack();
  const health = createHealth();
  const registry = createMetricsRegistry();
  const config = testConfig({
    KAFKA_BROKERS: servers.kafkaBrokers,
    REDIS_URL: servers.redisUrl,
    ADCAP_TOPIC_PREFIX: servers.topicPrefix,
    ADCAP_KEY_PREFIX: servers.keyPrefix,
    ADCAP_BEACON_PORT: '0',
    // Longer than in earnest, so that a slow machine does not make a repeat look new.
    ADCAP_BEACON_MARKS_DEADLINE_MS: '1000',
    ...env,
  });
  const started = await startBeacon(stack, { config, logger, clock: systemClock, registry, health });
  health.markReady();
  await started.redis.whenReady();
  const owned = stack.move();
  return { ...started, registry, [Symbol.asyncDispose]: () => owned.disposeAsync() };
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
