import { type RuleSetDraft, topicName } from '@adcap/contracts';
import { createProducer } from '@adcap/kafka-bus';
import { connectRedis, createKeys, createRulesCache, type RedisConnection } from '@adcap/redis-windows';
import { loadRulesFile } from '@adcap/rules-feed';
import {
  type AuditTrail,
  createAuditTrail,
  type Health,
  listen,
  type ServiceContext,
} from '@adcap/service-runtime';
import { buildApp } from './app.ts';
import type { RulesConfig } from './config.ts';
import { keepReconciled } from './keep-reconciled.ts';
import { createMetrics } from './metrics.ts';
import { openPreview } from './open-preview.ts';
import { refuseUnusableStore } from './refuse-unusable-store.ts';
import { createRuleBook, type RuleBook } from './rule-book.ts';
import { createRuleVersions } from './rule-versions.ts';
import { openRulesTopic, type RulesTopic } from './rules-topic.ts';

const NO_RULES: RuleSetDraft = { dimensions: {}, rules: [] };

/** Judged at every start, so that a wrong file is noticed when it is mounted and not when everything else was lost. */
const readSeed = async ({ config, logger }: ServiceContext<RulesConfig>): Promise<RuleSetDraft> => {
  const { ADCAP_RULES_FILE: file, ADCAP_RETENTION_MS: retentionMs } = config;
  if (file !== undefined) return loadRulesFile(file, { retentionMs });
  logger.warn({}, 'no ADCAP_RULES_FILE: an empty installation starts with no rules at all');
  return NO_RULES;
};

const registerHealth = (
  health: Health,
  { book, topic, redis }: { book: RuleBook; topic: RulesTopic; redis: RedisConnection },
): void => {
  health.register('required', 'rules', () => {
    const record = book.known() ?? topic.state().newest;
    return record === undefined
      ? { ok: false, detail: 'no rules yet: Redis has none, and the topic has not been read' }
      : { ok: true, detail: `version ${record.version}` };
  });
  health.register('informative', 'kafka', () =>
    topic.isUp() ? { ok: true } : { ok: false, detail: 'no acknowledgement: changes get 503' },
  );
  health.register('informative', 'redis', () =>
    redis.isReady() ? { ok: true } : { ok: false, detail: 'no connection: changes get 503' },
  );
};

const openBook = (
  stack: AsyncDisposableStack,
  { config, logger, clock, registry, health, fail }: ServiceContext<RulesConfig>,
  seed: RuleSetDraft,
) => {
  const retentionMs = config.ADCAP_RETENTION_MS;
  const redis = connectRedis({ url: config.REDIS_URL, name: 'rules', logger, role: 'writer' });
  const closing = new AbortController();
  stack.defer(() => redis.close());
  stack.defer(() => closing.abort());
  void refuseUnusableStore(redis, { signal: closing.signal, fail });
  const topic = openRulesTopic({
    bus: { brokers: config.KAFKA_BROKERS, clientId: 'adcap-rules', logger },
    topic: topicName('rules', config.ADCAP_TOPIC_PREFIX),
    retentionMs,
    publishTimeoutMs: config.ADCAP_RULES_PUBLISH_TIMEOUT_MS,
  });
  stack.defer(() => topic.close());
  const metrics = createMetrics(registry, () => (book.known() ?? topic.state().newest)?.version);
  const book: RuleBook = createRuleBook({
    cache: createRulesCache(redis, createKeys(config.ADCAP_KEY_PREFIX)),
    topic,
    seed,
    retentionMs,
    maxBytes: config.ADCAP_RULES_MAX_BYTES,
    clock,
    logger,
    onReconciled: (how) => metrics.reconciled.inc({ how }),
  });
  registerHealth(health, { book, topic, redis });
  return { book, metrics, versions: createRuleVersions(book, topic, { retentionMs }) };
};

/** With a producer of its own: trouble with the trail keeps nobody from changing rules. */
const openAudit = (
  stack: AsyncDisposableStack,
  { config, logger, clock, registry }: ServiceContext<RulesConfig>,
): AuditTrail => {
  const topic = topicName('audit', config.ADCAP_TOPIC_PREFIX);
  const bus = { brokers: config.KAFKA_BROKERS, clientId: 'adcap-rules-audit', logger };
  const producer = createProducer({ bus, topics: [topic] });
  stack.defer(() => producer.close());
  return createAuditTrail({
    service: 'rules',
    clock,
    logger,
    registry,
    send: (key, value) => producer.send(topic, [{ key, value }]),
  });
};

/** Opens the rules service. Brokers and Redis are waited for in the background; a wrong rules file is not. */
export const startRules = async (
  stack: AsyncDisposableStack,
  context: ServiceContext<RulesConfig>,
): Promise<{ address: string }> => {
  const { config, logger, clock } = context;
  const seed = await readSeed(context);
  const { book, metrics, versions } = openBook(stack, context, seed);
  const audit = openAudit(stack, context);
  const closing = new AbortController();
  const keeping = keepReconciled(book, {
    intervalMs: config.ADCAP_RULES_RECONCILE_INTERVAL_MS,
    logger,
    signal: closing.signal,
  });
  stack.defer(async () => {
    closing.abort();
    await keeping;
  });
  const app = await buildApp(context, {
    book,
    preview: openPreview(stack, context, { book, metrics }),
    metrics,
    bounds: { retentionMs: config.ADCAP_RETENTION_MS },
    versions,
    audit,
    clock,
    tokens: {
      viewer: config.ADCAP_TOKEN_VIEWER,
      editor: config.ADCAP_TOKEN_EDITOR,
      operator: config.ADCAP_TOKEN_OPERATOR,
    },
    limits: { perPeer: config.ADCAP_RATE_LIMIT_PEER, perActor: config.ADCAP_RATE_LIMIT_ACTOR },
    maxBytes: config.ADCAP_RULES_MAX_BYTES,
  });
  stack.defer(() => app.close());
  const address = await listen(app, { host: config.ADCAP_HOST, port: config.ADCAP_RULES_PORT });
  logger.info({ address }, 'listening');
  return { address };
};
