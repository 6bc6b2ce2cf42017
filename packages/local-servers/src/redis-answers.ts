import { Redis } from 'ioredis';

/** Resolves when a Redis answers a PING; throws otherwise. */
export const redisAnswers = async (url: string): Promise<void> => {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 500 });
  // Each failure is the answer to a call as well.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
  } finally {
    client.disconnect();
  }
};
