import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type ImpressionEvent, topicName } from '@adcap/contracts';
import { deviceTag, impressionIdentity } from '@adcap/identity';
import { type BusMessage, createProducer, followCompactedTopic } from '@adcap/kafka-bus';
import { createKeys } from '@adcap/redis-windows';
import {
  createHealth,
  createLogger,
  createMetricsRegistry,
  type ServiceContext,
  systemClock,
} from '@adcap/service-runtime';
import type { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import {
  type ConsumerConfig,
  type ImpressionConsumer,
  type ImpressionConsumerOptions,
  startImpressionConsumer,
} from '../src/index.ts';

/** Where a test's servers and namespaces are, as the fixtures give them. */
export type Servers = { kafkaBrokers: string; redisUrl: string; topicPrefix: string; keyPrefix: string };

const logger = createLogger({ name: 'test', level: 'silent' });

type Environment = Readonly<Record<string, string>>;

/** A service as a test knows it: what it is, and how its settings are read. */
export type ServiceUnderTest<Config> = {
  consumer: ImpressionConsumerOptions<Config>;
  config: (env: Environment) => Config;
  portSetting: string;
};

/** The settings that lead a service to a test's servers and namespaces, and to a free port. */
export const settingsFor = (servers: Servers, portSetting: string): Record<string, string> => ({
  KAFKA_BROKERS: servers.kafkaBrokers,
  REDIS_URL: servers.redisUrl,
  ADCAP_TOPIC_PREFIX: servers.topicPrefix,
  ADCAP_KEY_PREFIX: servers.keyPrefix,
  ADCAP_GROUP_PREFIX: servers.topicPrefix,
  [portSetting]: '0',
});

/** A consumer as its service starts it, on a free port, closed by `await using`. */
export const startConsumer = async <Config extends ConsumerConfig>(
  service: ServiceUnderTest<Config>,
  servers: Servers,
  env: Environment = {},
) => {
  await using stack = new AsyncDisposableStack();
  const failures: unknown[] = [];
  const context: ServiceContext<Config> = {
    config: service.config({ ...settingsFor(servers, service.portSetting), ...env }),
    logger,
    clock: systemClock,
    registry: createMetricsRegistry(),
    health: createHealth(),
    signal: new AbortController().signal,
    fail: (error) => void failures.push(error),
  };
  const opened = await startImpressionConsumer(stack, context, service.consumer);
  context.health.markReady();
  const owned = stack.move();
  return {
    ...opened,
    registry: context.registry,
    health: context.health,
    failures,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};

/** An impression of its own; with an `impressionId` twice it is twice the same. */
export const anImpression = (overrides: Partial<ImpressionEvent> & { deviceId: string }): ImpressionEvent => {
  const at = overrides.at ?? Date.now();
  const event = {
    type: 'NEW_IMPRESSION' as const,
    v: 1 as const,
    creativeId: 'c1',
    industryIds: [],
    impressionId: randomUUID(),
    receivedAt: at,
    ...overrides,
    at,
  };
  return { ...event, ...impressionIdentity({ ...event, reservationId: undefined }) };
};

export const messageOf = (event: ImpressionEvent): BusMessage => ({
  key: event.deviceId,
  value: JSON.stringify(event),
});

/** Writes messages to the impressions topic as the beacon does, acknowledged when it resolves. */
export const publish = async (servers: Servers, messages: readonly BusMessage[]): Promise<void> => {
  const topic = topicName('impressions', servers.topicPrefix);
  const producer = createProducer({
    bus: { brokers: [servers.kafkaBrokers], clientId: 'test', logger },
    topics: [topic],
    timeoutMs: 20_000,
    gzip: true,
  });
  await producer.send(topic, messages);
  await producer.close();
};

export const publishEvents = (servers: Servers, events: readonly ImpressionEvent[]): Promise<void> =>
  publish(servers, events.map(messageOf));

/** The values that lie in the dead-letter topic now. */
export const readDeadLetters = async (servers: Servers): Promise<string[]> => {
  const values: string[] = [];
  const follower = followCompactedTopic({
    bus: { brokers: [servers.kafkaBrokers], clientId: 'test', logger },
    topic: topicName('deadImpressions', servers.topicPrefix),
    onRecord: (_key, value) => void values.push(value?.toString('latin1') ?? '<null>'),
  });
  await follower.caughtUp;
  await follower.close();
  return values;
};

export const keysOf = (servers: Servers, deviceId: string) =>
  createKeys(servers.keyPrefix).device(deviceTag(deviceId));

/** The instants of the impressions that a set holds, oldest first; guards are not impressions. */
export const instantsIn = async (redis: Redis, key: string): Promise<number[]> => {
  const pairs = await redis.zrangebyscore(key, '(0', '+inf', 'WITHSCORES');
  return pairs.filter((_, index) => index % 2 === 1).map(Number);
};

/** The value of one series, 0 where it has never been touched. */
export const metricValue = async (
  registry: ServiceContext<unknown>['registry'],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> => {
  const metric = await registry.getSingleMetric(name)?.get();
  const found = metric?.values.find((entry) =>
    Object.entries(labels).every(([label, value]) => entry.labels[label] === value),
  );
  return found?.value ?? 0;
};

/** Messages that a consumer still has to apply, of the partitions that it has; undefined until it knows. */
export const lagOf = ({ consumer }: ImpressionConsumer): number | undefined => {
  const lags = [...consumer.progress().values()].map(({ lag }) => lag);
  if (lags.length === 0 || lags.includes(undefined)) return undefined;
  return lags.reduce<number>((sum, lag) => sum + Number(lag), 0);
};

/**
 * A service's main.ts as a process of its own, as a supervisor starts it; killed with the test if it is still there.
 * Resolves when it listens.
 */
export const startProcess = async (main: string, settings: Environment) => {
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  // 'close', not 'exit': by then all that it wrote has been read.
  const closed = once(child, 'close');
  const output: string[] = [];
  const listening = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on('line', (text) => {
    output.push(text);
    const address = /"address":"(http[^"]+)"/.exec(text)?.[1];
    if (address !== undefined) listening.resolve(address);
  });
  child.stderr.setEncoding('utf8').on('data', (text) => output.push(String(text)));
  const exited = closed.then(([code, signal]: unknown[]) => ({ code, signal, output: output.join('\n') }));
  const early = exited.then((exit): never => {
    throw new Error(`it ended before it listened: ${JSON.stringify(exit)}`);
  });
  // A process that ends after it has listened is no failure.
  early.catch(() => {});
  const address = await Promise.race([listening.promise, early]);
  return { address, kill: (signal: NodeJS.Signals) => child.kill(signal), exited };
};

/** The body of a health route, with its status. */
export const healthOf = async (address: string, route: '/livez' | '/readyz') => {
  const response = await fetch(new URL(route, address));
  const body: { status: string; checks: Record<string, { ok: boolean; detail?: string }> } = JSON.parse(
    await response.text(),
  );
  return { status: response.status, body };
};
