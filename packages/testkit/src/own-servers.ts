import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  cacheFolder,
  type LocalServer,
  type ServerOptions,
  startKafka,
  startRedis,
} from '@adcap/local-servers';

const withTemporaryData = async (
  start: (options: ServerOptions) => Promise<LocalServer>,
  options: Partial<ServerOptions>,
): Promise<LocalServer> => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'adcap-test-'));
  try {
    const server = await start({ cacheDir: cacheFolder(), dataDir, ...options });
    const dispose = server[Symbol.asyncDispose];
    return Object.assign(server, {
      [Symbol.asyncDispose]: async () => {
        await dispose();
        await rm(dataDir, { recursive: true, force: true });
      },
    });
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
};

/** A Redis for one test that stops, pauses or breaks it: `await using redis = await startOwnRedis()`. */
export const startOwnRedis = (options: Partial<ServerOptions> = {}): Promise<LocalServer> =>
  withTemporaryData(startRedis, options);

/** A Kafka for one test that stops, pauses or breaks it. */
export const startOwnKafka = (options: Partial<ServerOptions> = {}): Promise<LocalServer> =>
  withTemporaryData(startKafka, options);
