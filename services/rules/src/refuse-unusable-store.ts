import type { RedisConnection } from '@adcap/redis-windows';

/**
 * Reports a Redis that may evict keys or is too old, once it can be asked. Trouble with the connection is waited out, and
 * nothing is said any more once the signal aborts.
 */
export const refuseUnusableStore = async (
  redis: Pick<RedisConnection, 'epoch' | 'isReady' | 'whenReady' | 'assertUsable'>,
  { signal, fail }: { signal: AbortSignal; fail: (error: unknown) => void },
): Promise<void> => {
  while (!signal.aborted) {
    try {
      await redis.whenReady(signal);
    } catch {
      return;
    }
    const epoch = redis.epoch();
    try {
      await redis.assertUsable();
      return;
    } catch (error) {
      // Still the same connection: it did answer, and what it said is final.
      if (redis.isReady() && epoch === redis.epoch() && !signal.aborted) {
        fail(error);
        return;
      }
    }
  }
};
