import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { startContainer, startEither } from './docker.ts';
import type { LocalServer, ServerOptions } from './local-server.ts';
import { NativeProcess, nativeServer } from './native-process.ts';
import { assertPortFree, freePort } from './ports.ts';
import { redisBinary } from './redis-binary.ts';

const IMAGE = 'redis:7-alpine';
const CONFIG = path.resolve(import.meta.dirname, '../../../infra/redis/redis.conf');

const ping = async (port: number): Promise<void> => {
  const client = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 500,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
  } finally {
    client.disconnect();
  }
};

const startNative = async (options: ServerOptions & { port: number }): Promise<LocalServer> => {
  const { port } = options;
  const dataDir = path.join(options.dataDir, `redis-${port}`);
  await mkdir(dataDir, { recursive: true });
  const process = new NativeProcess({
    name: 'Redis',
    command: await redisBinary(options.cacheDir, options.onProgress ?? (() => undefined)),
    args: [CONFIG, '--port', String(port), '--bind', '127.0.0.1', '--dir', dataDir, '--save', ''],
    logFile: path.join(dataDir, 'redis.log'),
    answers: () => ping(port),
  });
  await process.start();
  return nativeServer(process, { address: `redis://127.0.0.1:${port}`, port });
};

const startInDocker = (port: number): Promise<LocalServer> =>
  startContainer({
    image: IMAGE,
    inside: 6379,
    port,
    environment: {},
    command: ['redis-server', '/etc/redis.conf', '--protected-mode', 'no'],
    files: { [CONFIG]: '/etc/redis.conf' },
    readyLine: /Ready to accept connections/,
    scheme: 'redis://',
  });

/** Starts a Redis with infra/redis/redis.conf. Throws LocalServerError; nothing is left running then. */
export const startRedis = async (options: ServerOptions): Promise<LocalServer> => {
  const port = options.port ?? (await freePort());
  await assertPortFree(port, 'Redis');
  return startEither(
    options.mode ?? 'auto',
    { name: 'Redis', docker: () => startInDocker(port), native: () => startNative({ ...options, port }) },
    options.onProgress ?? (() => undefined),
  );
};
