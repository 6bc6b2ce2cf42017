import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  cacheFolder,
  createTopics,
  freePort,
  loadTopics,
  startKafka,
  startRedis,
} from '@adcap/local-servers';
import { connectRedis, type RedisConnection } from '@adcap/redis-windows';
import { ServiceProcess, say, waitUntilReady } from '@adcap/stack/processes';
import { createRedisControl, startFaultProxy } from '@adcap/testkit/servers';
import { RULES_YAML } from './asking.ts';
import type { Hands } from './redis-faults.ts';

const LOG_DIR = path.resolve(import.meta.dirname, '../../../.adcap/faults');

type Service = { name: string; url: string; logFile: string; pid: () => number | undefined };

export type Scene = AsyncDisposable & {
  hands: Hands;
  /** Past the proxy, for seeding. */
  connection: RedisConnection;
  /** Ad selection and the two consumers, without which nothing says up to when impressions are applied. */
  services: readonly Service[];
  selection: Service & { operatorToken: string };
};

const RESERVATION_KEYS = `faults:${randomBytes(24).toString('base64url')}`;

const quiet = { info: () => undefined, warn: () => undefined };

/** Nothing of the caller's own settings. */
const serviceEnvironment = (more: Record<string, string>): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  ADCAP_RESERVATION_KEYS: RESERVATION_KEYS,
  ...more,
});

const openServers = async (stack: AsyncDisposableStack, folder: string) => {
  const startFile = path.join(folder, 'redis-start.conf');
  await writeFile(startFile, '');
  const options = { cacheDir: cacheFolder(), dataDir: folder, onProgress: say };
  // Natively: a container could not be given another start file.
  const starting = startRedis({ ...options, mode: 'native', args: ['--include', startFile] });
  const redis = stack.use(await starting);
  const kafka = stack.use(await startKafka(options));
  await createTopics(kafka.address, await loadTopics(), { partitions: 1 });
  return { redis, kafka, startFile };
};

/** Starts one service with its defaults and waits until it is ready. */
const openService = async (
  stack: AsyncDisposableStack,
  { name, env, signal }: { name: string; env: Record<string, string>; signal: AbortSignal },
): Promise<Service> => {
  const port = await freePort();
  const portVariable = `ADCAP_${name.toUpperCase().replace('-', '_')}_PORT`;
  const run = new ServiceProcess(name, {
    env: serviceEnvironment({ ...env, [portVariable]: String(port) }),
    logDir: LOG_DIR,
  });
  stack.defer(() => run.stop());
  run.start();
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([run.failed, waitUntilReady(name, url, signal)]);
  signal.throwIfAborted();
  run.markReady();
  return { name, url, pid: () => run.pid, logFile: path.join(LOG_DIR, `${name}.log`) };
};

const openServices = async (
  stack: AsyncDisposableStack,
  { env, folder, signal }: { env: Record<string, string>; folder: string; signal: AbortSignal },
): Promise<Pick<Scene, 'services' | 'selection'>> => {
  const rulesFile = path.join(folder, 'rules.yaml');
  await writeFile(rulesFile, RULES_YAML);
  await mkdir(LOG_DIR, { recursive: true });
  const operatorToken = randomBytes(18).toString('base64url');
  const forSelection = { ADCAP_RULES_FILE: rulesFile, ADCAP_TOKEN_OPERATOR: operatorToken };
  const history = await openService(stack, { name: 'history', env, signal });
  const quota = await openService(stack, { name: 'quota', env, signal });
  const selection = await openService(stack, {
    name: 'ad-selection',
    env: { ...env, ...forSelection },
    signal,
  });
  return { services: [history, quota, selection], selection: { ...selection, operatorToken } };
};

/** A Redis behind a proxy, a Kafka, and the services as processes of their own with their defaults. */
export const openScene = async (signal: AbortSignal): Promise<Scene> => {
  const stack = new AsyncDisposableStack();
  try {
    const folder = await mkdtemp(path.join(tmpdir(), 'adcap-faults-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const { redis, kafka, startFile } = await openServers(stack, folder);
    const proxy = stack.use(await startFaultProxy(redis.port));
    const control = stack.use(createRedisControl(redis.address));
    const connection = connectRedis({ url: redis.address, name: 'faults', logger: quiet, role: 'writer' });
    stack.defer(() => connection.close());
    await connection.whenReady(signal);
    const env = { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, KAFKA_BROKERS: kafka.address };
    const services = await openServices(stack, { env, folder, signal });
    const opened = stack.move();
    return {
      hands: { redis, proxy, control, startFile },
      connection,
      ...services,
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
};
