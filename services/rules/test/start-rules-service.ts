import { type AuditEvent, auditEventSchema, topicName } from '@adcap/contracts';
import { followCompactedTopic } from '@adcap/kafka-bus';
import {
  createHealth,
  createLogger,
  createMetricsRegistry,
  type Logger,
  loadConfig,
  type ServiceContext,
  systemClock,
} from '@adcap/service-runtime';
import { waitFor } from '@adcap/testkit';
import { configSchema, type RulesConfig } from '../src/config.ts';
import { startRules } from '../src/start-rules.ts';

export type Servers = { kafkaBrokers: string; redisUrl: string; topicPrefix: string; keyPrefix: string };

export const logger = createLogger({ name: 'test', level: 'silent' });

const TOKENS = {
  ADCAP_TOKEN_VIEWER: 'a-viewer',
  ADCAP_TOKEN_EDITOR: 'an-editor',
  ADCAP_TOKEN_OPERATOR: 'an-operator',
};

/** The rules service on a free port, closed by `await using`; not waited for. */
export const startRulesService = async (
  servers: Servers,
  env: Readonly<Record<string, string>> = {},
  log: Logger = logger,
) => {
  await using stack = new AsyncDisposableStack();
  const failures: unknown[] = [];
  const context: ServiceContext<RulesConfig> = {
    config: loadConfig(configSchema, {
      KAFKA_BROKERS: servers.kafkaBrokers,
      REDIS_URL: servers.redisUrl,
      ADCAP_TOPIC_PREFIX: servers.topicPrefix,
      ADCAP_KEY_PREFIX: servers.keyPrefix,
      ADCAP_RULES_PORT: '0',
      ADCAP_RULES_RECONCILE_INTERVAL_MS: '200',
      ...TOKENS,
      ...env,
    }),
    logger: log,
    clock: systemClock,
    registry: createMetricsRegistry(),
    health: createHealth(),
    signal: new AbortController().signal,
    fail: (error) => void failures.push(error),
  };
  const { address } = await startRules(stack, context);
  context.health.markReady();
  const owned = stack.move();
  return {
    address,
    failures,
    call: async (method: string, path: string, options: CallOptions = {}) =>
      call(address + path, method, options),
    whenUp: () =>
      waitFor(
        async () => {
          const ready = await call(`${address}/readyz`, 'GET', {});
          return JSON.stringify(ready.body).match(/"rules":{"ok":true.*"kafka":{"ok":true}/) !== null;
        },
        { what: 'the rules service is up' },
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};

export type RulesService = Awaited<ReturnType<typeof startRulesService>>;

type CallOptions = { token?: string; ifMatch?: string; body?: unknown; headers?: Record<string, string> };

/** What tests look at in an answer, whatever its kind. */
type Body = {
  version?: number;
  rules?: { id: string }[];
  dimensions?: Record<string, string>;
  code?: string;
  detail?: string;
  state?: string;
  errors?: { ruleId: string; field: string; message: string }[];
  warnings?: { ruleId: string }[];
  rule?: { id: string; limit: unknown };
  current?: number;
  versions?: { version: number; author?: string; note?: string; publishedAt: number; ruleCount: number }[];
  blockedBy?: string | null;
  caps?: { ruleId: string; value: string }[];
};

const call = async (url: string, method: string, { token, ifMatch, body, headers }: CallOptions) => {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: JSON.parse(text === '' ? '{}' : text) as Body,
  };
};

export const get = (service: RulesService) => service.call('GET', '/v1/rules', { token: 'a-viewer' });

export const put = (service: RulesService, ifMatch: string, body: unknown) =>
  service.call('PUT', '/v1/rules', { token: 'an-editor', ifMatch, body });

export const capRule = (id: string, max: unknown, of: { window?: string; value?: string } = {}) => ({
  id,
  dimension: 'creative',
  value: of.value ?? id,
  limit: { max, window: of.window ?? '60m' },
});

/** Everything on the audit topic so far, by when it was written. */
export const readAudit = async (servers: Servers): Promise<AuditEvent[]> => {
  const records: AuditEvent[] = [];
  const follower = followCompactedTopic({
    bus: { brokers: [servers.kafkaBrokers], clientId: 'test', logger },
    topic: topicName('audit', servers.topicPrefix),
    onRecord: (_key, value) =>
      void records.push(auditEventSchema.parse(JSON.parse(value?.toString('utf8') ?? ''))),
  });
  await follower.caughtUp;
  await follower.close();
  return records.toSorted((one, other) => one.at - other.at);
};

/** The records of the rules topic, the last one under each key. */
export const readRulesTopic = async (servers: Servers): Promise<Map<string, { version: number }>> => {
  const records = new Map<string, { version: number }>();
  const follower = followCompactedTopic({
    bus: { brokers: [servers.kafkaBrokers], clientId: 'test', logger },
    topic: topicName('rules', servers.topicPrefix),
    onRecord: (key, value) => {
      if (value === null) records.delete(key ?? '');
      else records.set(key ?? '', JSON.parse(value.toString('utf8')));
    },
  });
  await follower.caughtUp;
  await follower.close();
  return records;
};
