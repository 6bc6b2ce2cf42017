import { Redis } from 'ioredis';

/** A hand on a Redis that is made to fail: any command, on a connection of its own. */
export type RedisControl = Disposable & {
  /** A command as one would type it, without quotes; arguments with blanks follow by themselves. */
  run(line: string, ...args: readonly (string | number)[]): Promise<unknown>;
};

/** Commands wait for the connection while the server is away, and are answered with what it says when it is there. */
export const createRedisControl = (url: string): RedisControl => {
  const client = new Redis(url, {
    enableReadyCheck: false,
    maxRetriesPerRequest: null,
    retryStrategy: () => 100,
  });
  // Each failure is the answer to a call as well.
  client.on('error', () => undefined);
  return {
    run: (line, ...args) => {
      const [command = '', ...words] = line.split(' ');
      return client.call(command, ...words, ...args);
    },
    [Symbol.dispose]: () => client.disconnect(),
  };
};
