import type { Batch as KafkaBatch, Consumer as KafkaConsumer } from 'kafkajs';
import type { BusSettings } from './bus-settings.ts';
import type { FollowerOptions } from './compacted-follower.ts';
import { createKafkaClient, type KafkaClient, METADATA_MAX_AGE_MS } from './kafka-client.ts';
import { toRawMessage } from './raw-message.ts';

type FollowerSessionOptions = {
  bus: BusSettings;
  topic: string;
  groupId: string;
  next: Map<number, bigint>;
  onRecord: FollowerOptions['onRecord'];
  /** `isAllRead`: the brokers have nothing more, whatever the offsets say. */
  onProgress: (isAllRead: boolean) => void;
};

const FETCH_WAIT_MS = 250;
/** Longer than the group's, so that a start of many instances is no reason to fail. */
const REQUEST_TIMEOUT_MS = 10_000;
const SESSION_TIMEOUT_MS = 10_000;
const SILENCE_LIMIT_MS = 20_000;
/**
 * A compacted log may end in offsets that no record has any more. So many fetches in a row, from every broker, that
 * waited in full and brought nothing mean the same as having reached the end.
 */
const QUIET_FETCHES = 4;

/** One connection's time of a follower. Its group has one member, a random name and no commits. */
export class FollowerSession {
  readonly #options: FollowerSessionOptions;
  readonly #client: KafkaClient;
  readonly #consumer: KafkaConsumer;
  readonly #ended = Promise.withResolvers<unknown>();
  readonly #quietFetches = new Map<string, number>();
  #lastFetchAtMs = Date.now();
  isJoined = false;
  hasJoined = false;

  constructor(options: FollowerSessionOptions) {
    this.#options = options;
    this.#client = createKafkaClient({
      ...options.bus,
      retry: { retries: 0 },
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    this.#consumer = this.#client.kafka.consumer({
      groupId: options.groupId,
      sessionTimeout: SESSION_TIMEOUT_MS,
      heartbeatInterval: SESSION_TIMEOUT_MS / 5,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      allowAutoTopicCreation: false,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      retry: {
        retries: 3,
        initialRetryTime: 100,
        maxRetryTime: 1_000,
        restartOnFailure: () => Promise.resolve(false),
      },
    });
  }

  /** Runs until it is stopped or fails; answers the error that ended it. */
  async run(): Promise<unknown> {
    this.#listen();
    const watchdog = setInterval(() => this.#checkSilence(), 1_000);
    try {
      await this.#consumer.connect();
      await this.#consumer.subscribe({ topics: [this.#options.topic], fromBeginning: true });
      await this.#consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: true,
        eachBatch: ({ batch }) => Promise.resolve(this.#read(batch)),
      });
      return await this.#ended.promise;
    } catch (error) {
      return error;
    } finally {
      clearInterval(watchdog);
      this.isJoined = false;
      // Leaving a group of one is no use to anybody: it ends with its session.
      this.#client.destroySockets();
      await this.#consumer.disconnect().catch(() => {});
    }
  }

  stop(): void {
    this.#ended.resolve(undefined);
  }

  #listen(): void {
    const { topic, next } = this.#options;
    const { events } = this.#consumer;
    this.#consumer.on(events.GROUP_JOIN, () => {
      this.isJoined = true;
      this.hasJoined = true;
      this.#quietFetches.clear();
      for (const [partition, offset] of next)
        this.#consumer.seek({ topic, partition, offset: String(offset) });
    });
    this.#consumer.on(events.REBALANCING, () => {
      this.isJoined = false;
    });
    this.#consumer.on(events.FETCH_START, ({ payload }) => {
      const node = String(payload.nodeId);
      this.#quietFetches.set(node, this.#quietFetches.get(node) ?? 0);
    });
    this.#consumer.on(events.FETCH, ({ payload }) =>
      this.#noteFetch(String(payload.nodeId), payload.duration),
    );
    this.#consumer.on(events.CRASH, ({ payload }) => this.#ended.resolve(payload.error));
  }

  #noteFetch(node: string, durationMs: number): void {
    this.#lastFetchAtMs = Date.now();
    // Shorter or longer ones had something to bring, or failed.
    const isQuiet = durationMs >= FETCH_WAIT_MS * 0.8 && durationMs <= FETCH_WAIT_MS * 4;
    this.#quietFetches.set(node, isQuiet ? (this.#quietFetches.get(node) ?? 0) + 1 : 0);
    if ([...this.#quietFetches.values()].every((count) => count >= QUIET_FETCHES))
      this.#options.onProgress(true);
  }

  #checkSilence(): void {
    if (Date.now() - this.#lastFetchAtMs < SILENCE_LIMIT_MS) return;
    this.#ended.resolve(new Error('The follower has gone silent'));
    this.#client.destroySockets();
  }

  #read(batch: KafkaBatch): void {
    const { next, onRecord, onProgress, bus, topic } = this.#options;
    this.#quietFetches.clear();
    for (const message of batch.messages) {
      const { partition, offset, timestampMs, key, value } = toRawMessage(batch.partition, message);
      try {
        onRecord(key?.toString() ?? null, value, { partition, offset, timestampMs });
      } catch (error) {
        bus.logger.error({ err: error, topic, offset: String(offset) }, 'a record could not be taken in');
      }
    }
    next.set(batch.partition, BigInt(batch.lastOffset()) + 1n);
    onProgress(false);
  }
}
