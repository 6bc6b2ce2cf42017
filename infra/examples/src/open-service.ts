import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { cacheFolder, freePort, startRedis } from '@adcap/local-servers';
import { ServiceProcess, say, waitUntilReady } from '@adcap/stack/processes';

const ROOT = path.resolve(import.meta.dirname, '../../..');
/** Nobody listens there: decisions need no Kafka, and the rules come from a file. */
const NO_KAFKA = '127.0.0.1:1';

/** Ad selection as a process of its own over a Redis of its own, under the sample rules; everything ends with the stack. */
export const openService = async (
  stack: AsyncDisposableStack,
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<string> => {
  const redis = stack.use(await startRedis({ cacheDir: cacheFolder(), dataDir: folder, onProgress: say }));
  const logDir = path.join(ROOT, '.adcap/examples');
  await mkdir(logDir, { recursive: true });
  const port = await freePort();
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    REDIS_URL: redis.address,
    KAFKA_BROKERS: NO_KAFKA,
    ADCAP_RULES_FILE: path.join(ROOT, 'infra/rules/sample.yaml'),
    ADCAP_RESERVATION_KEYS: `examples:${randomBytes(24).toString('base64url')}`,
    ADCAP_AD_SELECTION_PORT: String(port),
    // Nothing here is about the time that a busy machine takes.
    ADCAP_AD_SELECTION_DEADLINE_MS: '2000',
  };
  const run = new ServiceProcess('ad-selection', { env, logDir });
  stack.defer(() => run.stop());
  run.start();
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([run.failed, waitUntilReady('ad-selection', url, signal)]);
  signal.throwIfAborted();
  run.markReady();
  return url;
};
