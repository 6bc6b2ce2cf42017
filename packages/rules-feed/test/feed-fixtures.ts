import { CURRENT_RULES_KEY, type Rule, type RulesRecord, rulesVersionKey } from '@adcap/contracts';
import { createProducer, type Producer } from '@adcap/kafka-bus';
import { connectRedis, createKeys, createRulesCache, type RulesCache } from '@adcap/redis-windows';
import { test as base } from '@adcap/testkit';
import { createRulesFeed, type RulesFeed, type RulesFeedOptions } from '../src/index.ts';

const HOUR_MS = 3_600_000;
/** Nothing listens there. */
export const NOWHERE = '127.0.0.1:1';

type Line = { level: string; bindings: object; message: string };

const createLog = () => {
  const lines: Line[] = [];
  const at = (level: string) => (bindings: object, message: string) => {
    lines.push({ level, bindings, message });
  };
  return {
    lines,
    errors: () => lines.filter(({ level }) => level === 'error'),
    logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
  };
};

export const aRule = (overrides: Partial<Rule> = {}): Rule => ({
  id: 'hourly',
  dimension: 'creative',
  limit: { max: 3, window: '60m' },
  ...overrides,
});

export const aRecord = (version: number, overrides: Partial<RulesRecord> = {}): RulesRecord => ({
  schema: 1,
  version,
  dimensions: {},
  rules: [aRule({ limit: { max: version, window: '60m' } })],
  publishedAt: 1_764_550_000_000,
  ...overrides,
});

/** The cap of the one rule of `aRecord`. */
export const capOf = (feed: RulesFeed): unknown => {
  const [rule] = feed.current()?.generic.creative ?? [];
  return rule?.limit.kind === 'cap' ? rule.limit.max : undefined;
};

export type FeedWorld = {
  log: ReturnType<typeof createLog>;
  cache: RulesCache;
  topic: string;
  bus: RulesFeedOptions['bus'];
  /** A cache in a Redis that is away. */
  noCache: RulesCache;
  publish(record: unknown): Promise<void>;
  /** As the rules service does it: under the version's own key, too. */
  publishVersion(record: RulesRecord): Promise<void>;
  open(overrides?: Partial<RulesFeedOptions>): RulesFeed & AsyncDisposable;
};

/** The shared servers with a topic and a cache of the test's own; all feeds are closed afterwards. */
export const test = base.extend<{ world: FeedWorld }>({
  world: async ({ topics, kafkaBrokers, topicPrefix, redisUrl, keyPrefix }, use) => {
    const topic = `${topicPrefix}adcap.rules.v1`;
    if (!topics.includes(topic)) throw new Error('there is no rules topic');
    await using stack = new AsyncDisposableStack();
    const log = createLog();
    const bus = { brokers: [kafkaBrokers], clientId: 'test', logger: log.logger };
    const connect = (url: string) => {
      const connection = connectRedis({ url, name: 'test', logger: log.logger, role: 'writer' });
      stack.defer(() => connection.close());
      return connection;
    };
    const redis = connect(redisUrl);
    await redis.whenReady();
    const cache = createRulesCache(redis, createKeys(keyPrefix));
    const noCache = createRulesCache(connect(`redis://${NOWHERE}`), createKeys(keyPrefix));
    const producer: Producer = createProducer({ bus, topics: [topic] });
    stack.defer(() => producer.close());
    await use({
      log,
      cache,
      topic,
      bus,
      noCache,
      publish: (record) => producer.send(topic, [{ key: CURRENT_RULES_KEY, value: JSON.stringify(record) }]),
      publishVersion: (record) => {
        const value = JSON.stringify(record);
        const keys = [rulesVersionKey(record.version), CURRENT_RULES_KEY];
        return producer.send(
          topic,
          keys.map((key) => ({ key, value })),
        );
      },
      open: (overrides = {}) => {
        const feed = createRulesFeed({ bus, topic, cache, retentionMs: 24 * HOUR_MS, ...overrides });
        stack.defer(() => feed.close());
        return { ...feed, [Symbol.asyncDispose]: () => feed.close() };
      },
    });
  },
});
