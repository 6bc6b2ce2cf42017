import { topicName } from '@adcap/contracts';
import { createReservationTokens } from '@adcap/identity';
import { createProducer, type Producer } from '@adcap/kafka-bus';
import {
  connectRedis,
  createDoneMarks,
  createKeys,
  createRulesCache,
  type RedisConnection,
} from '@adcap/redis-windows';
import { createRulesFeed, type RulesFeed } from '@adcap/rules-feed';
import { type Health, listen, observeRules, type ServiceContext } from '@adcap/service-runtime';
import { createImpressionBus } from './adapters/impression-bus.ts';
import { createInsuredMarks } from './adapters/insured-marks.ts';
import { buildApp } from './app.ts';
import type { BeaconConfig } from './config.ts';
import { createMetrics } from './metrics.ts';

const name = 'beacon';

type Parts = { producer: Producer; redis: RedisConnection; rules: RulesFeed };

/**
 * All of it only informs. A beacon without Kafka can answer nothing but 503, yet so can every other one: taking them all
 * out of rotation would turn an answer that says when to come back into a refused connection.
 */
const registerChecks = (health: Health, { producer, redis }: Parts): void => {
  health.register('informative', 'kafka', () =>
    producer.isHealthy() ? { ok: true } : { ok: false, detail: 'no acknowledgement: impressions get 503' },
  );
  health.register('informative', 'redis', () =>
    redis.isReady() ? { ok: true } : { ok: false, detail: 'no connection: repeats are published again' },
  );
};

const openParts = (
  stack: AsyncDisposableStack,
  { config, logger }: Pick<ServiceContext<BeaconConfig>, 'config' | 'logger'>,
): Parts => {
  const bus = { brokers: config.KAFKA_BROKERS, clientId: 'adcap-beacon', logger };
  const redis = connectRedis({ url: config.REDIS_URL, name, logger, role: 'decision' });
  stack.defer(() => redis.close());
  const rules = createRulesFeed({
    bus,
    topic: topicName('rules', config.ADCAP_TOPIC_PREFIX),
    cache: createRulesCache(redis, createKeys(config.ADCAP_KEY_PREFIX)),
    retentionMs: config.ADCAP_RETENTION_MS,
    file: config.ADCAP_RULES_FILE,
  });
  stack.defer(() => rules.close());
  const producer = createProducer({
    bus,
    topics: [topicName('impressions', config.ADCAP_TOPIC_PREFIX)],
    timeoutMs: config.ADCAP_BEACON_PUBLISH_TIMEOUT_MS,
  });
  stack.defer(() => producer.close());
  return { producer, redis, rules };
};

/** Opens everything and listens. It waits for no server: what is away is answered as such, from the first request on. */
export const startBeacon = async (
  stack: AsyncDisposableStack,
  context: Omit<ServiceContext<BeaconConfig>, 'signal' | 'fail'>,
): Promise<Parts & { address: string }> => {
  const { config, logger, clock, registry, health } = context;
  const parts = openParts(stack, context);
  const { producer, redis, rules } = parts;
  registerChecks(health, parts);
  observeRules(context, rules, 'no rules yet; impressions do not need them');
  const metrics = createMetrics(registry, { pendingMessages: () => producer.pending });
  const app = await buildApp({
    config,
    logger,
    clock,
    registry,
    health,
    metrics,
    publish: createImpressionBus(producer, config.ADCAP_TOPIC_PREFIX),
    marks: createInsuredMarks({
      store: createDoneMarks(redis, createKeys(config.ADCAP_KEY_PREFIX)),
      deadlineMs: config.ADCAP_BEACON_MARKS_DEADLINE_MS,
      onFailure: (err) => {
        metrics.markFailures.inc();
        logger.debug({ err }, 'no marks of duplicates');
      },
    }),
    tokens: createReservationTokens(config.ADCAP_RESERVATION_KEYS),
    random: Math.random,
  });
  // Closed first: it answers what it has begun, for which it still needs the others.
  stack.defer(() => app.close());
  const address = await listen(app, { host: config.ADCAP_HOST, port: config.ADCAP_BEACON_PORT });
  logger.info({ address }, 'listening');
  return { ...parts, address };
};
