import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  cacheFolder,
  createTopics,
  type LocalServer,
  loadTopics,
  type ServerOptions,
  startKafka,
  startRedis,
} from '@adcap/local-servers';
import { say } from './say.ts';
import { serviceEnvironment } from './service-environment.ts';
import { ServiceProcess } from './service-process.ts';
import { SERVICES, urlOf, withPorts } from './services.ts';
import { makeTokens, ROLES, type Tokens } from './tokens.ts';
import { waitUntilGood, waitUntilReady } from './wait-until-ready.ts';

const LOG_DIR = path.resolve(import.meta.dirname, '../../../.adcap/logs');
/** Enough to see work spread, few enough to start fast. */
const PARTITIONS = 6;

/** The running suite. */
export type Stack = AsyncDisposable & {
  tokens: Tokens;
  env: NodeJS.ProcessEnv;
  redis: LocalServer;
  kafka: LocalServer;
  /** Rejects when a part cannot be kept running. */
  failed: Promise<never>;
};

const started = async (what: string, start: () => Promise<LocalServer>): Promise<LocalServer> => {
  const from = performance.now();
  const server = await start();
  say(
    `${what} is up at ${server.address} (${server.kind}, ${((performance.now() - from) / 1_000).toFixed(1)} s)`,
  );
  return server;
};

/** Its data goes with the stack, so that nothing is lost by not asking politely, which takes Kafka seconds. */
const keep = (stack: AsyncDisposableStack, server: LocalServer): LocalServer => {
  stack.defer(async () => {
    if (server.kind === 'native') await server.kill();
    await server[Symbol.asyncDispose]();
  });
  return server;
};

/** Both at once; when one cannot be had, the other is not left behind. */
const openServers = async (
  stack: AsyncDisposableStack,
  options: Omit<ServerOptions, 'port' | 'mode'>,
): Promise<{ redis: LocalServer; kafka: LocalServer }> => {
  const [redis, kafka] = await Promise.allSettled([
    started('Redis', () => startRedis(options)).then((server) => keep(stack, server)),
    started('Kafka', () => startKafka(options)).then((server) => keep(stack, server)),
  ]);
  if (redis.status === 'rejected') throw redis.reason;
  if (kafka.status === 'rejected') throw kafka.reason;
  return { redis: redis.value, kafka: kafka.value };
};

/** Starts every service and waits until all are ready. */
const openServices = async (
  stack: AsyncDisposableStack,
  { env, logDir, signal }: { env: NodeJS.ProcessEnv; logDir: string; signal: AbortSignal },
): Promise<{ failed: Promise<never> }> => {
  await mkdir(logDir, { recursive: true });
  const services = SERVICES.map(({ name }) => ({ name, run: new ServiceProcess(name, { env, logDir }) }));
  stack.defer(async () => void (await Promise.all(services.map(({ run }) => run.stop()))));
  for (const { run } of services) run.start();
  say(`starting ${services.length} services (logs: ${path.relative(process.cwd(), logDir) || '.'})`);
  const failed = Promise.race(services.map(({ run }) => run.failed));
  failed.catch(() => undefined);
  const ready = services.map(async ({ name, run }) => {
    await waitUntilReady(name, urlOf(name, env), signal);
    run.markReady();
  });
  await Promise.race([failed, Promise.all(ready)]);
  // The first answers would be degraded until the consumers have said how far they are.
  const selection = { name: 'ad-selection', url: urlOf('ad-selection', env) };
  await Promise.race([failed, waitUntilGood(selection, 'asOf', signal)]);
  return { failed };
};

/**
 * Brings up Redis, Kafka, the topics and every service; resolves when all are ready. Data lives in a temporary folder and goes with
 * the stack. A failed start leaves nothing running.
 */
export const openStack = async (
  signal: AbortSignal,
  callerEnv: NodeJS.ProcessEnv = process.env,
): Promise<Stack> => {
  const stack = new AsyncDisposableStack();
  try {
    const withPort = await withPorts(callerEnv);
    const dataDir = await mkdtemp(path.join(tmpdir(), 'adcap-stack-'));
    stack.defer(() => rm(dataDir, { recursive: true, force: true }));
    const { redis, kafka } = await openServers(stack, {
      cacheDir: cacheFolder(),
      dataDir,
      onProgress: say,
    });
    signal.throwIfAborted();
    const prefix = withPort['ADCAP_TOPIC_PREFIX'] ?? '';
    await createTopics(kafka.address, await loadTopics(), { prefix, partitions: PARTITIONS });

    const tokens = makeTokens(withPort);
    const env = serviceEnvironment(withPort, {
      redisUrl: redis.address,
      kafkaBrokers: kafka.address,
      tokens,
    });
    const { failed } = await openServices(stack, { env, logDir: LOG_DIR, signal });
    signal.throwIfAborted();
    const opened = stack.move();
    return { tokens, env, redis, kafka, failed, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
};

/** What a person needs to use the stack: tokens, addresses, and that it is ready. */
export const announce = ({ tokens, env }: Stack): void => {
  for (const role of ROLES) say(`${role} token ${tokens[role]}`);
  for (const { name } of SERVICES) say(`${name.padEnd(12)} ${urlOf(name, env)}/documentation`);
  say('ready');
};
