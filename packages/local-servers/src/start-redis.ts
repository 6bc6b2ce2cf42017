import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { startEither } from './docker.ts';
import type { LocalServer, ServerOptions } from './local-server.ts';
import { NativeProcess, nativeServer } from './native-process.ts';
import { assertPortFree, freePort } from './ports.ts';
import { redisAnswers } from './redis-answers.ts';
import { redisBinary } from './redis-binary.ts';

const IMAGE = 'redis:7-alpine';
const CONFIG = path.resolve(import.meta.dirname, '../../../infra/redis/redis.conf');

const addressOf = (port: number): string => `redis://127.0.0.1:${port}`;

const startNative = async (options: ServerOptions & { port: number }): Promise<LocalServer> => {
  const { port } = options;
  const dataDir = path.join(options.dataDir, `redis-${port}`);
  await mkdir(dataDir, { recursive: true });
  const process = new NativeProcess({
    name: 'Redis',
    command: await redisBinary(options.cacheDir, options.onProgress ?? (() => undefined)),
    args: [
      CONFIG,
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      dataDir,
      '--save',
      '',
      ...(options.args ?? []),
    ],
    logFile: path.join(dataDir, 'redis.log'),
    port,
    answers: () => redisAnswers(addressOf(port)),
  });
  await process.start();
  return nativeServer(process, addressOf(port));
};

const startInDocker = async (port: number, args: readonly string[]): Promise<LocalServer> => {
  // Loaded where it is used: half a second that a machine without Docker need not wait.
  const { startContainer } = await import('./container.ts');
  return startContainer({
    name: 'Redis',
    image: IMAGE,
    inside: 6379,
    port,
    address: addressOf(port),
    environment: {},
    command: ['redis-server', '/etc/redis.conf', '--protected-mode', 'no', '--save', '', ...args],
    files: { [CONFIG]: '/etc/redis.conf' },
    answers: () => redisAnswers(addressOf(port)),
  });
};

/** Starts a Redis with infra/redis/redis.conf. Throws LocalServerError; nothing is left running then. */
export const startRedis = async (options: ServerOptions): Promise<LocalServer> => {
  const port = options.port ?? (await freePort());
  await assertPortFree(port, 'Redis');
  return startEither(options, {
    name: 'Redis',
    docker: () => startInDocker(port, options.args ?? []),
    native: () => startNative({ ...options, port }),
  });
};
