import { type ImpressionEvent, topicName } from '@adcap/contracts';
import {
  type BatchHandler,
  type BusSettings,
  type Consumer,
  createProducer,
  runConsumer,
} from '@adcap/kafka-bus';
import {
  connectRedis,
  createAppliedOffsets,
  createKeys,
  createRulesCache,
  type Keys,
  type RedisConnection,
  type Retention,
} from '@adcap/redis-windows';
import { createRulesFeed, type RulesFeed } from '@adcap/rules-feed';
import { createHttpServer, listen, observeRules, type ServiceContext } from '@adcap/service-runtime';
import type { ConsumerConfig } from './consumer-settings.ts';
import { type ConsumerMetrics, createConsumerMetrics } from './create-consumer-metrics.ts';
import { registerChecks } from './register-checks.ts';
import { watchLiveness } from './watch-liveness.ts';
import { whenStoreIsUsable } from './when-store-is-usable.ts';

/** What a service makes its handler from. */
export type ConsumerParts<Config> = ServiceContext<Config> & {
  redis: RedisConnection;
  keys: Keys;
  retention: Retention;
  groupId: string;
  metrics: ConsumerMetrics;
};

export type ImpressionConsumerOptions<Config> = {
  /** The word of the service in its group id, metrics and logs. */
  service: string;
  /** For the page that describes its HTTP server. */
  description: string;
  port: (config: Config) => number;
  /** One consumer of the topic sets aside what is no impression, so that each such message is set aside once. */
  setsUndecodableAside: boolean;
  /** What the handler needs closed, or does beside the stream, it hands to the stack. */
  createHandler: (parts: ConsumerParts<Config>, stack: AsyncDisposableStack) => BatchHandler<ImpressionEvent>;
};

export type ImpressionConsumer = { address: string; consumer: Consumer; rules: RulesFeed };

const VERSION = '0.1.0';
/** Nothing is posted to a consumer. */
const BODY_LIMIT_BYTES = 1_024;
const REQUEST_TIMEOUT_MS = 5_000;

const openHttp = async <Config extends ConsumerConfig>(
  stack: AsyncDisposableStack,
  { config, logger, registry, health }: ServiceContext<Config>,
  { service, description, port }: ImpressionConsumerOptions<Config>,
): Promise<string> => {
  const server = await createHttpServer({
    name: service,
    version: VERSION,
    title: `adcap ${service}`,
    description,
    logger,
    registry,
    health,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    trustProxy: false,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  stack.defer(() => server.close());
  const address = await listen(server, { host: config.ADCAP_HOST, port: port(config) });
  logger.info({ address }, 'listening');
  return address;
};

const openStore = <Config extends ConsumerConfig>(
  stack: AsyncDisposableStack,
  { config, logger, signal, fail }: ServiceContext<Config>,
  service: string,
) => {
  const redis = connectRedis({ url: config.REDIS_URL, name: service, logger, role: 'writer' });
  const closing = new AbortController();
  stack.defer(() => redis.close());
  stack.defer(() => closing.abort());
  const ending = AbortSignal.any([signal, closing.signal]);
  const usable = whenStoreIsUsable(redis, ending);
  usable.catch((error: unknown) => {
    if (!ending.aborted) fail(error);
  });
  return { redis, usable };
};

const openRules = <Config extends ConsumerConfig>(
  stack: AsyncDisposableStack,
  { config }: ServiceContext<Config>,
  { bus, redis, keys }: { bus: BusSettings; redis: RedisConnection; keys: Keys },
): RulesFeed => {
  const rules = createRulesFeed({
    bus,
    topic: topicName('rules', config.ADCAP_TOPIC_PREFIX),
    cache: createRulesCache(redis, keys),
    retentionMs: config.ADCAP_RETENTION_MS,
    file: config.ADCAP_RULES_FILE,
  });
  stack.defer(() => rules.close());
  return rules;
};

const openConsumer = <Config extends ConsumerConfig>(
  stack: AsyncDisposableStack,
  parts: ConsumerParts<Config> & { bus: BusSettings; usable: Promise<void> },
  { createHandler, setsUndecodableAside }: ImpressionConsumerOptions<Config>,
): Consumer => {
  const { bus, config, clock, redis, keys, groupId, usable } = parts;
  const deadTopic = topicName('deadImpressions', config.ADCAP_TOPIC_PREFIX);
  const producer = createProducer({ bus, topics: [deadTopic] });
  stack.defer(() => producer.close());
  const applied = createAppliedOffsets(redis, keys, groupId);
  const consumer = runConsumer({
    bus,
    topic: topicName('impressions', config.ADCAP_TOPIC_PREFIX),
    groupId,
    handler: createHandler(parts, stack),
    deadLetter: { producer, topic: deadTopic, undecodable: setsUndecodableAside },
    positions: {
      epoch: () => applied.epoch(),
      // No batch lands in a Redis that is not known to be fit.
      read: async () => {
        await usable;
        return applied.read();
      },
      noteCaughtUp: (beat) => applied.noteCaughtUp(beat),
    },
    onFatal: parts.fail,
    clock: { now: () => clock.nowMs() },
    metrics: parts.metrics.bus,
  });
  stack.defer(() => consumer.close());
  return consumer;
};

/**
 * Opens a consumer of the impressions topic with its store, rules, dead letters, health and metrics. HTTP comes first, so
 * that it is closed last and tells how the stop goes. Brokers and Redis are waited for in the background.
 */
export const startImpressionConsumer = async <Config extends ConsumerConfig>(
  stack: AsyncDisposableStack,
  context: ServiceContext<Config>,
  options: ImpressionConsumerOptions<Config>,
): Promise<ImpressionConsumer> => {
  const { config, logger, clock, registry, health, fail } = context;
  const { service } = options;
  const address = await openHttp(stack, context, options);
  const { redis, usable } = openStore(stack, context, service);
  const bus = { brokers: config.KAFKA_BROKERS, clientId: `adcap-${service}`, logger };
  const keys = createKeys(config.ADCAP_KEY_PREFIX);
  const rules = openRules(stack, context, { bus, redis, keys });
  let opened: Consumer | undefined;
  const metrics = createConsumerMetrics({
    registry,
    service,
    clock,
    progress: () => opened?.progress() ?? new Map(),
  });
  const parts = {
    ...context,
    redis,
    keys,
    retention: { retentionMs: config.ADCAP_RETENTION_MS, graceMs: config.ADCAP_RESERVATION_GRACE_MS },
    groupId: `${config.ADCAP_GROUP_PREFIX}${service}`,
    metrics,
  };
  const consumer = openConsumer(stack, { ...parts, bus, usable }, options);
  opened = consumer;
  stack.defer(watchLiveness(consumer, clock, fail));
  registerChecks(health, { consumer, redis, clock });
  // They decide nothing here, but show which version this process has picked up.
  observeRules(context, rules, 'no rules yet');
  return { address, consumer, rules };
};
