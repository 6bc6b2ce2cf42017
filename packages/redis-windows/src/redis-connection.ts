import { Redis } from 'ioredis';

/** The part of a logger that a connection uses. */
export type ConnectionLogger = {
  info(bindings: object, message: string): void;
  warn(bindings: object, message: string): void;
};

export type ConnectionOptions = {
  url: string;
  /** Shown in `CLIENT LIST`. */
  name: string;
  logger: ConnectionLogger;
  /** A writer also reconnects on READONLY: behind a failover its old address may lead to the new master. */
  role: 'decision' | 'writer';
};

/**
 * A connection to one Redis. A command that cannot be sent now, or whose answer is lost with the socket, is rejected at
 * once and never sent again behind the caller's back: a write replayed after its deadline would be a phantom.
 */
export type RedisConnection = {
  /**
   * Rises with every new ready connection, and when Redis no longer has what was written to it: behind a higher one it
   * may have come back older. 0: never connected.
   */
  epoch(): number;
  isReady(): boolean;
  /** Resolves once commands can be sent; rejects when the connection is closed or the signal aborts first. */
  whenReady(signal?: AbortSignal): Promise<void>;
  /** Throws a sentence for the operator when this Redis may evict keys or is older than 6.2. */
  assertUsable(): Promise<void>;
  close(): Promise<void>;
};

const CONNECT_TIMEOUT_MS = 500;
/** After dropped packets this finds a dead socket in a second; TCP alone needs the better part of a minute. */
const SOCKET_TIMEOUT_MS = 1_000;
const RETRY_MS = 250;
const OLDEST_VERSION = [6, 2] as const;
const REFUSED = /^(NOPERM|ERR unknown command)/;

const clients = new WeakMap<RedisConnection, Redis>();
const epochRaisers = new WeakMap<RedisConnection, (epoch: number) => void>();

/**
 * Treats what is behind the connection as another Redis from now on, once for each epoch: what had been written is not
 * there, though the connection never broke.
 */
export const raiseEpoch = (connection: RedisConnection, epoch: number): void =>
  epochRaisers.get(connection)?.(epoch);

/** The client behind a connection, for this package alone. */
export const clientOf = (connection: RedisConnection): Redis => {
  const client = clients.get(connection);
  if (client === undefined) throw new Error('this connection was not made by connectRedis');
  return client;
};

/**
 * Lets everything issued inside leave in one write: without it every command is a system call of its own. Not a
 * pipeline of the client, which would reorder a script that has to be loaded first and does not work across slots.
 */
export const inOneWrite = <T>(connection: RedisConnection, issue: () => T): T => {
  // Before the first connection there is no socket, and every command is rejected by itself.
  const stream: Redis['stream'] | undefined = clientOf(connection).stream;
  stream?.cork();
  try {
    return issue();
  } finally {
    stream?.uncork();
  }
};

const optionsFor = ({ name, role }: ConnectionOptions) => ({
  connectionName: `adcap:${name}:${role}`,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  // 0: what is in flight when the socket closes is rejected then, not after the next connection.
  maxRetriesPerRequest: 0,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: SOCKET_TIMEOUT_MS,
  retryStrategy: () => RETRY_MS,
  // Else a Redis that reads its data is asked again only when its own guess of the rest is over, up to ten seconds.
  maxLoadingRetryTime: RETRY_MS,
  reconnectOnError: (error: Error) => role === 'writer' && /\bREADONLY\b/.test(error.message),
  enableAutoPipelining: false,
});

const field = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];

const isRecentEnough = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor >= OLDEST_VERSION[1]);
};

/** Managed Redis often forbids CONFIG, and some INFO too. */
const infoOf = async (client: Redis): Promise<string | undefined> => {
  try {
    return await client.info();
  } catch (error) {
    if (error instanceof Error && REFUSED.test(error.message)) return undefined;
    throw error;
  }
};

const assertUsable = async (client: Redis, logger: ConnectionLogger): Promise<void> => {
  const info = await infoOf(client);
  const policy = info === undefined ? undefined : field(info, 'maxmemory_policy');
  if (info === undefined || policy === undefined) {
    logger.warn({}, 'Redis does not tell its eviction policy; make sure that it is noeviction');
    return;
  }
  const version = field(info, 'redis_version') ?? '';
  if (!isRecentEnough(version)) throw new Error(`Redis ${version} is too old: 6.2 or newer is needed`);
  if (policy !== 'noeviction')
    throw new Error(
      `Redis has maxmemory-policy ${policy}: set it to noeviction, an evicted counter cannot always be noticed`,
    );
};

/** Rejects when `signal` aborts, which closing the connection does as well. */
const whenReady = async (client: Redis, signal: AbortSignal): Promise<void> => {
  if (client.status === 'ready') return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => {
    reject(new Error('Redis is not ready', { cause: signal.reason }));
  };
  client.once('ready', resolve);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    await promise;
  } finally {
    client.off('ready', resolve);
    signal.removeEventListener('abort', onAbort);
  }
};

/** Between two attempts there is no socket whose end could be waited for. */
const isBetweenAttempts = (client: Redis): boolean =>
  client.status === 'reconnecting' || client.status === 'close';

const disconnect = async (client: Redis): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  client.once('end', resolve);
  const isDone = client.status === 'end' || isBetweenAttempts(client);
  client.disconnect();
  if (!isDone) await promise;
};

/** Connects in the background and for ever: every 250 ms until it succeeds, and again after every loss. */
export const connectRedis = (options: ConnectionOptions): RedisConnection => {
  const { logger, name } = options;
  const client = new Redis(options.url, optionsFor(options));
  const closing = new AbortController();
  let epoch = 0;
  let lastProblem: string | undefined;
  client.on('ready', () => {
    epoch += 1;
    lastProblem = undefined;
    logger.info({ connection: name, epoch }, 'connected to Redis');
  });
  client.on('error', (error: Error) => {
    // Four times a second while Redis is away: said once for each kind of trouble.
    if (error.message === lastProblem) return;
    lastProblem = error.message;
    logger.warn({ connection: name, err: error }, 'no connection to Redis');
  });
  const connection: RedisConnection = {
    epoch: () => epoch,
    isReady: () => client.status === 'ready',
    whenReady: (signal) =>
      whenReady(client, signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal])),
    assertUsable: () => assertUsable(client, logger),
    close: () => {
      closing.abort(new Error('the connection to Redis is closed'));
      return disconnect(client);
    },
  };
  clients.set(connection, client);
  epochRaisers.set(connection, (seen) => {
    if (seen !== epoch) return;
    epoch += 1;
    logger.warn({ connection: name, epoch }, 'Redis has lost what was written to it, reading it again');
  });
  return connection;
};
