import { type AuditEvent, epochMs, type Rule, type SelectionAnswer } from '@adcap/contracts';
import { createReservationTokens } from '@adcap/identity';
import {
  connectRedis,
  createDecisionStore,
  createKeys,
  createSharedState,
  type DecisionStore,
  type RedisConnection,
} from '@adcap/redis-windows';
import { type CompiledRules, compileRules, parseRuleSet } from '@adcap/rule-engine';
import type { RulesFeed } from '@adcap/rules-feed';
import {
  createAuditTrail,
  createHealth,
  createLogger,
  createMetricsRegistry,
  type HttpServer,
  type Logger,
  listen,
  systemClock,
} from '@adcap/service-runtime';
import type { Registry } from 'prom-client';
import { buildApp } from '../src/app.ts';
import { type AdSelectionConfig, configSchema } from '../src/config.ts';
import { followSharedState } from '../src/follow-shared-state.ts';
import type { AsOf } from '../src/freshness.ts';

export const OPERATOR = 'operator-token-for-tests';
export const RETENTION = { retentionMs: 86_400_000, graceMs: 30_000 };
export const GROUPS = { history: 'adcap.history', quota: 'adcap.quota' };
const quiet = { info: () => undefined, warn: () => undefined };
/** Nothing here is about the deadline unless a test says so. */
const GENEROUS_MS = 5_000;

export const rulesOf = (
  rules: readonly (Omit<Rule, 'id'> & { id?: string })[],
  version = 1,
): CompiledRules => {
  const parsed = parseRuleSet(
    { rules: rules.map((rule, index) => ({ id: `r${index}`, ...rule })) },
    RETENTION,
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return compileRules({ version, ...parsed.draft });
};

const configOf = (more: Record<string, string> = {}): AdSelectionConfig =>
  configSchema.parse({
    ADCAP_RESERVATION_KEYS: 'k1:a secret for the tests',
    ADCAP_TOKEN_OPERATOR: OPERATOR,
    ADCAP_AD_SELECTION_DEADLINE_MS: String(GENEROUS_MS),
    ...more,
  });

type Answered = { status: number; body: SelectionAnswer & Record<string, unknown> };

export type Selection = {
  url: string;
  registry: Registry;
  connection: RedisConnection;
  setRules(rules: CompiledRules | undefined): void;
  post(path: string, body: unknown): Promise<Answered>;
  select(body: Record<string, unknown>): Promise<SelectionAnswer>;
  close(): Promise<void>;
};

/** The service's own app on a free port over a real Redis; rules are given by the test. */
export const startSelection = async (options: {
  redisUrl: string;
  keyPrefix: string;
  config?: Record<string, string>;
  isWarm?: boolean;
  /** Rules that are followed instead of given. */
  feed?: Pick<RulesFeed, 'current' | 'inForceAt'>;
  logger?: Logger;
  /** Told of every audit record. */
  onAudit?: (record: AuditEvent) => void;
  /** Puts something between the service and its store. */
  through?: (store: DecisionStore) => DecisionStore;
  /** What consumers have said about how far they are; everything is applied unless a test says otherwise. */
  asOf?: AsOf | 'as in Redis';
}): Promise<Selection> => {
  const config = configOf({ ADCAP_KEY_PREFIX: options.keyPrefix, ...options.config });
  const connection = connectRedis({
    url: options.redisUrl,
    name: 'selection',
    logger: quiet,
    role: 'decision',
  });
  await connection.whenReady();
  const store = createDecisionStore(connection, { keys: createKeys(options.keyPrefix), ...RETENTION });
  const shared = followSharedState({
    state: createSharedState(connection, { keys: createKeys(options.keyPrefix), groups: GROUPS }),
    nowMs: () => systemClock.nowMs(),
    logger: quiet,
  });
  const { asOf = () => epochMs(Date.now()) } = options;
  const health = createHealth();
  const logger = options.logger ?? createLogger({ name: 'test', level: 'fatal' });
  const registry = createMetricsRegistry();
  let rules: CompiledRules | undefined;
  const app: HttpServer = await buildApp({
    config,
    logger,
    clock: systemClock,
    registry,
    health,
    store: options.through?.(store) ?? shared.before(store),
    shared: asOf === 'as in Redis' ? shared : { ...shared, asOf },
    rules: () => (options.feed === undefined ? rules : options.feed.current()),
    rulesAt: (at) => options.feed?.inForceAt(at),
    tokens: createReservationTokens(config.ADCAP_RESERVATION_KEYS),
    audit: createAuditTrail({
      service: 'ad-selection',
      clock: systemClock,
      logger,
      registry,
      send: async (_key, value) => options.onAudit?.(JSON.parse(value)),
    }),
    isWarm: options.isWarm ?? false,
    decisionLog: () => () => undefined,
  });
  const url = await listen(app, { host: '127.0.0.1', port: 0 });
  health.markReady();
  const post = async (path: string, body: unknown): Promise<Answered> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  };
  return {
    url,
    registry,
    connection,
    setRules: (next) => {
      rules = next;
    },
    post,
    select: async (body) => {
      const answered = await post('/v1/selections', body);
      if (answered.status !== 200) throw new Error(`${answered.status} ${JSON.stringify(answered.body)}`);
      return answered.body;
    },
    close: async () => {
      await app.close();
      await shared.close();
      await connection.close();
    },
  };
};
