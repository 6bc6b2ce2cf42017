import { topicName } from '@adcap/contracts';
import { createReservationTokens } from '@adcap/identity';
import { createProducer } from '@adcap/kafka-bus';
import {
  connectRedis,
  createDecisionStore,
  createKeys,
  createRulesCache,
  createSharedState,
  type RedisConnection,
} from '@adcap/redis-windows';
import { createRulesFeed } from '@adcap/rules-feed';
import {
  createAuditTrail,
  createLogger,
  listen,
  loadConfig,
  observeRules,
  runService,
  suiteVariables,
} from '@adcap/service-runtime';
import { createDecisionLog } from './adapters/decision-log.ts';
import { buildApp } from './app.ts';
import { configSchema } from './config.ts';
import { followSharedState } from './follow-shared-state.ts';

const name = 'ad-selection';

/** A Redis that does not answer by then is none; answers are open until it does. */
const LONGEST_LOOK_MS = 1_000;

/** Decision records are worth less than memory and a quick stop; a request for each would cost more than the decision. */
const RECORDS_IN_WAIT = {
  timeoutMs: 2_000,
  maxPendingMessages: 20_000,
  maxPendingBytes: 16 * 1_048_576,
  lingerMs: 50,
};

/** Ends the start where Redis would lose counters; one that is away is no reason not to answer. */
const refuseUnusable = async (redis: RedisConnection, signal: AbortSignal): Promise<void> => {
  try {
    await redis.whenReady(signal);
    await redis.assertUsable();
  } catch (error) {
    if (redis.isReady()) throw error;
  }
};

await runService(
  {
    name,
    schema: configSchema,
    config: () =>
      loadConfig(configSchema, process.env, { allowed: suiteVariables('AD_SELECTION', process.env) }),
    logger: (config) => createLogger({ name, level: config.ADCAP_LOG_LEVEL }),
  },
  async (stack, { config, logger, clock, registry, health, signal }) => {
    const topicPrefix = config.ADCAP_TOPIC_PREFIX;
    const bus = { brokers: config.KAFKA_BROKERS, clientId: 'adcap-ad-selection', logger };
    const keys = createKeys(config.ADCAP_KEY_PREFIX);
    const redis = connectRedis({ url: config.REDIS_URL, name, logger, role: 'decision' });
    stack.defer(() => redis.close());
    await refuseUnusable(redis, AbortSignal.any([signal, AbortSignal.timeout(LONGEST_LOOK_MS)]));
    health.register('informative', 'redis', () =>
      redis.isReady() ? { ok: true } : { ok: false, detail: 'no connection: answers are open' },
    );
    const group = (service: string): string => `${config.ADCAP_GROUP_PREFIX}${service}`;
    const shared = followSharedState({
      state: createSharedState(redis, { keys, groups: { history: group('history'), quota: group('quota') } }),
      nowMs: () => clock.nowMs(),
      logger,
    });
    stack.defer(() => shared.close());
    await shared.first;
    const auditTopic = topicName('audit', topicPrefix);
    const producer = createProducer({
      bus,
      topics: [topicName('decisions', topicPrefix), auditTopic],
      ...RECORDS_IN_WAIT,
      random: Math.random,
    });
    stack.defer(() => producer.close());
    const feed = createRulesFeed({
      bus,
      topic: topicName('rules', topicPrefix),
      cache: createRulesCache(redis, keys),
      retentionMs: config.ADCAP_RETENTION_MS,
      file: config.ADCAP_RULES_FILE,
      nowMs: () => clock.nowMs(),
    });
    stack.defer(() => feed.close());
    observeRules({ registry, health }, feed, 'no rules yet: answers are open');
    await feed.started;
    const app = await buildApp({
      config,
      logger,
      clock,
      registry,
      health,
      store: shared.before(
        createDecisionStore(redis, {
          keys,
          retentionMs: config.ADCAP_RETENTION_MS,
          graceMs: config.ADCAP_RESERVATION_GRACE_MS,
        }),
      ),
      shared,
      rules: () => feed.current(),
      rulesAt: (at) => feed.inForceAt(at),
      tokens: createReservationTokens(config.ADCAP_RESERVATION_KEYS),
      audit: createAuditTrail({
        service: name,
        clock,
        logger,
        registry,
        send: (key, value) => producer.send(auditTopic, [{ key, value }]),
      }),
      isWarm: true,
      decisionLog: (onDropped) =>
        createDecisionLog(producer, {
          topicPrefix,
          sample: config.ADCAP_AD_SELECTION_DECISION_SAMPLE,
          random: Math.random,
          onDropped,
        }),
    });
    stack.defer(() => app.close());
    const address = await listen(app, { host: config.ADCAP_HOST, port: config.ADCAP_AD_SELECTION_PORT });
    logger.info({ address }, 'listening');
  },
);
