import { setTimeout as delay } from 'node:timers/promises';
import type { Cleaner, RedisConnection } from '@adcap/redis-windows';
import type { CleanupMetrics } from './metrics.ts';

type Deps = {
  cleaner: Pick<Cleaner, 'scanForStray'>;
  redis: Pick<RedisConnection, 'epoch' | 'isReady'>;
  keysPerStep: number;
  intervalMs: number;
  metrics: Pick<CleanupMetrics, 'noteScanStep' | 'noteScanFailure'>;
  logger: { debug(bindings: object, message: string): void; warn(bindings: object, message: string): void };
};

/**
 * Looks at every key of every device, round after round and a few at a time, and gives those a TTL that have none.
 * A step that failed is made again; after a reconnect the round begins anew, a cursor being good for one server. The
 * answer ends it once the step in hand is done.
 */
export const scanForStrays = (deps: Deps): (() => Promise<void>) => {
  const { cleaner, redis, keysPerStep, intervalMs, metrics, logger } = deps;
  const stop = new AbortController();

  const step = async (from: {
    cursor: string;
    epoch: number;
  }): Promise<{ cursor: string; epoch: number }> => {
    const epoch = redis.epoch();
    try {
      const cursor = epoch === from.epoch ? from.cursor : '0';
      const made = await cleaner.scanForStray({ cursor, count: keysPerStep });
      metrics.noteScanStep(made);
      if (made.mended > 0) logger.warn({ keys: made.mended }, 'keys without a TTL were given one');
      return { cursor: made.cursor, epoch };
    } catch (err) {
      metrics.noteScanFailure();
      logger.debug({ err }, 'a look for keys without a TTL failed');
      return from;
    }
  };

  const scan = async (): Promise<void> => {
    let at = { cursor: '0', epoch: redis.epoch() };
    while (!stop.signal.aborted) {
      await delay(intervalMs, undefined, { signal: stop.signal }).catch(() => {});
      if (!stop.signal.aborted && redis.isReady()) at = await step(at);
    }
  };

  const scanning = scan();
  return async () => {
    stop.abort();
    await scanning;
  };
};
