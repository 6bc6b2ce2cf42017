import { CompressionTypes, type Producer as KafkaProducer, type Message, Partitioners } from 'kafkajs';
import { type Backoff, backoffDelayMs, pause } from './backoff.ts';
import { bounded } from './bounded.ts';
import { BusRefused, isRetryableBusError } from './bus-errors.ts';
import type { BusMessage } from './bus-message.ts';
import type { BusSettings } from './bus-settings.ts';
import { createKafkaClient, type KafkaClient, METADATA_MAX_AGE_MS } from './kafka-client.ts';
import type { Chunk } from './pending-sends.ts';

export type TopicSenderOptions = {
  bus: BusSettings;
  topic: string;
  maxRequestBytes: number;
  /** The longest that one request, or one attempt to connect, may take. */
  attemptTimeoutMs: number;
  gzip: boolean;
  lingerMs: number;
  random: () => number;
};

type Connection = { client: KafkaClient; producer: KafkaProducer };

const RECONNECT: Backoff = { initialMs: 100, maxMs: 1_000 };

/**
 * Writes to one topic, one request in flight: what comes meanwhile goes with the next. So messages of one key keep
 * their order, and no sequence number can be used twice. A topic has its own connection, so that trouble with one
 * topic never holds up another.
 */
export class TopicSender {
  readonly #options: TopicSenderOptions;
  #queue: Chunk[] = [];
  #connection: Connection | undefined;
  #isUp = false;
  #lastError: unknown;
  /** After a refused batch its chunks go one by one, so that one caller's bad message fails that caller alone. */
  #alone = 0;
  #wake = new AbortController();
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;

  constructor(options: TopicSenderOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get lastError(): unknown {
    return this.#lastError;
  }

  push(chunks: readonly Chunk[]): void {
    this.#queue.push(...chunks);
    // Each abort makes an error with a stack, also where it is not the first.
    if (!this.#wake.signal.aborted) this.#wake.abort();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake.abort();
    await this.#loop;
    await this.#disconnect();
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      this.#queue = this.#queue.filter((chunk) => !chunk.send.isSettled);
      if (this.#queue.length === 0 && this.#connection !== undefined) {
        await this.#sleepUntilWoken();
        continue;
      }
      if (this.#queue.length > 0) await pause(this.#options.lingerMs, this.#stop.signal);
      if (await this.#attempt(this.#take())) {
        failures = 0;
      } else {
        failures += 1;
        await pause(backoffDelayMs(failures, RECONNECT, this.#options.random), this.#stop.signal);
      }
    }
  }

  async #sleepUntilWoken(): Promise<void> {
    if (!this.#wake.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    this.#wake = new AbortController();
  }

  #take(): Chunk[] {
    let bytes = 0;
    let count = 0;
    for (const chunk of this.#queue) {
      bytes += chunk.bytes;
      if (count > 0 && (bytes > this.#options.maxRequestBytes || this.#alone > 0)) break;
      count += 1;
    }
    if (this.#alone > 0) this.#alone -= 1;
    return this.#queue.splice(0, count);
  }

  /** Connects and sends; false when both have to be tried again. */
  async #attempt(batch: Chunk[]): Promise<boolean> {
    try {
      this.#connection ??= await this.#connect();
      if (batch.length > 0) await this.#sendBatch(this.#connection.producer, batch);
      for (const chunk of batch) chunk.send.chunkAcknowledged();
      this.#noteUp();
      return true;
    } catch (error) {
      if (isRetryableBusError(error)) {
        this.#queue.unshift(...batch);
        this.#noteDown(error);
        // A new connection each time: a half-dead one would otherwise be kept until TCP gives it up.
        void this.#disconnect();
        return false;
      }
      this.#refuse(batch, error);
      return true;
    }
  }

  #noteUp(): void {
    this.#isUp = true;
    if (this.#lastError === undefined) return;
    this.#lastError = undefined;
    this.#options.bus.logger.info({ topic: this.#options.topic }, 'the brokers acknowledge again');
  }

  #noteDown(error: unknown): void {
    this.#isUp = false;
    if (this.#lastError === undefined) {
      this.#options.bus.logger.warn(
        { err: error, topic: this.#options.topic },
        'the brokers do not acknowledge',
      );
    }
    this.#lastError = error;
  }

  #refuse(batch: Chunk[], error: unknown): void {
    if (batch.length > 1) {
      this.#alone = batch.length;
      this.#queue.unshift(...batch);
      return;
    }
    const { logger } = this.#options.bus;
    logger.warn({ err: error, topic: this.#options.topic }, 'the brokers refused messages');
    for (const chunk of batch)
      chunk.send.settle(new BusRefused('The event stream refused the messages', error));
  }

  async #sendBatch(producer: KafkaProducer, batch: Chunk[]): Promise<void> {
    const messages = batch.flatMap((chunk) => chunk.messages.map(toKafkaMessage));
    // Its caller may have given up meanwhile.
    if (messages.length === 0) return;
    await this.#bounded(
      producer.send({
        topic: this.#options.topic,
        messages,
        acks: -1,
        timeout: this.#options.attemptTimeoutMs,
        compression: this.#options.gzip ? CompressionTypes.GZIP : CompressionTypes.None,
      }),
    );
  }

  async #connect(): Promise<Connection> {
    const { bus, attemptTimeoutMs } = this.#options;
    const client: KafkaClient = createKafkaClient({
      ...bus,
      retry: { retries: 0 },
      requestTimeoutMs: attemptTimeoutMs,
      onDisconnected: () => {
        if (this.#connection?.client !== client) return;
        // The brokers end idle connections too; a new one is made before it is needed.
        this.#isUp = false;
        void this.#disconnect();
        this.#wake.abort();
      },
    });
    const producer = client.kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      retry: { retries: 0 },
    });
    try {
      await this.#bounded(producer.connect());
      return { client, producer };
    } catch (error) {
      await disconnect({ client, producer });
      throw error;
    }
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection !== undefined) await disconnect(connection);
  }

  /** kafkajs bounds a request, not all of what it does around one. */
  #bounded<Result>(work: Promise<Result>): Promise<Result> {
    return bounded(work, this.#options.attemptTimeoutMs, 'The brokers did not answer in time');
  }
}

const disconnect = async ({ client, producer }: Connection): Promise<void> => {
  client.destroySockets();
  await producer.disconnect().catch(() => {});
};

const toKafkaMessage = ({ key, value, headers }: BusMessage): Message => ({
  key,
  value,
  ...(headers === undefined ? {} : { headers: { ...headers } }),
});
