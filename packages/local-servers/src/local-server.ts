/** A server that runs on this machine until it is stopped. */
export type LocalServer = AsyncDisposable & {
  /** `redis://127.0.0.1:port` or `127.0.0.1:port`. */
  readonly address: string;
  readonly port: number;
  readonly kind: 'native' | 'docker';
  /** Of the native process that runs now. */
  readonly pid?: number | undefined;
  /** Ends it in an orderly way and waits until it is gone. */
  stop(): Promise<void>;
  /** Ends it without a chance to tidy up. */
  kill(): Promise<void>;
  /**
   * Starts it again on the same port with the same data, ending it first where it still runs. Resolves when it answers, or with
   * `running` as soon as its process runs: a server may refuse to work for as long as it reads its data.
   */
  restart(until?: 'answering' | 'running'): Promise<void>;
  /** Stops it from running without closing its connections. */
  pause(): Promise<void>;
  resume(): Promise<void>;
};

export type ServerOptions = {
  /** Where downloads are kept between runs. */
  cacheDir: string;
  /** Where this server keeps its data and log; made if it is missing. */
  dataDir: string;
  /** A free one where none is given. */
  port?: number;
  /** `auto` takes Docker where its daemon answers. */
  mode?: 'auto' | 'native' | 'docker';
  /** More arguments for Redis, after its own; Kafka takes none. */
  args?: readonly string[];
  onProgress?: (line: string) => void;
};
