import type { RedisConnection } from '@adcap/redis-windows';

/**
 * Resolves once Redis is known to be fit: it evicts no keys and is new enough. Rejects with what the operator should do
 * when it is not, and when `signal` aborts or the connection is closed. Trouble with the connection is waited out.
 */
export const whenStoreIsUsable = async (
  redis: Pick<RedisConnection, 'epoch' | 'isReady' | 'whenReady' | 'assertUsable'>,
  signal: AbortSignal,
): Promise<void> => {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop
    await redis.whenReady(signal);
    const epoch = redis.epoch();
    try {
      await redis.assertUsable();
      return;
    } catch (error) {
      signal.throwIfAborted();
      // Still the same connection: it did answer, and what it said is final.
      if (redis.isReady() && epoch === redis.epoch()) throw error;
    }
  }
};
