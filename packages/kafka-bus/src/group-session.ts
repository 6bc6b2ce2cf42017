import type { EachBatchPayload, Batch as KafkaBatch, Consumer as KafkaConsumer } from 'kafkajs';
import type { BatchRunner, Stretch } from './batch-runner.ts';
import { brokerErrorType } from './bus-errors.ts';
import type { BusSettings, Clock } from './bus-settings.ts';
import type { AtEnd } from './catch-up-beat.ts';
import { createKafkaClient, type KafkaClient, METADATA_MAX_AGE_MS } from './kafka-client.ts';
import { OffsetCommits } from './offset-commits.ts';
import { type Admission, PositionGate, type PositionGateOptions } from './position-gate.ts';
import type { ProgressBook } from './progress.ts';
import { toRawMessage } from './raw-message.ts';
import type { PartitionEnds } from './topic-offsets.ts';

export type GroupSessionOptions<Event> = {
  bus: BusSettings;
  topic: string;
  groupId: string;
  runner: BatchRunner<Event>;
  gate: Pick<PositionGateOptions, 'applied' | 'offsets' | 'random'>;
  progress: ProgressBook;
  clock: Clock;
  maxBatchMessages: number;
  partitionsConsumedConcurrently: number;
  sessionTimeoutMs: number;
  commitIntervalMs: number;
  /** A bug of the handler: nothing more is consumed. */
  onBug(error: unknown): void;
};

/** How long a fetch may wait for new messages; also the longest that a stop or a seek waits for one to return. */
const FETCH_WAIT_MS = 250;
const REQUEST_TIMEOUT_MS = 10_000;
/** A session that neither fetched, applied nor beat for so long hangs somewhere in the client. */
const SILENCE_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 15_000;

/**
 * One membership in the group, from joining to its end: stopped, or failed. kafkajs would restart a failed consumer
 * by itself in some cases and leave it dead in others; here it never does, and the caller opens a new session.
 */
export class GroupSession<Event> {
  readonly #options: GroupSessionOptions<Event>;
  readonly #client: KafkaClient;
  readonly #consumer: KafkaConsumer;
  readonly #gate: PositionGate;
  readonly #commits: OffsetCommits;
  readonly #stop = new AbortController();
  readonly #ended = Promise.withResolvers<unknown>();
  /** The partitions of which a batch is being applied. */
  readonly #inHand = new Set<number>();
  #isJoined = false;
  #hasJoined = false;
  #lastActivityMs: number;
  /** Why the current generation is over; what is still queued of it must not be started. */
  #revoked: unknown;

  constructor(options: GroupSessionOptions<Event>) {
    const { bus, topic, groupId, sessionTimeoutMs } = options;
    this.#options = options;
    this.#lastActivityMs = options.clock.now();
    this.#client = createKafkaClient({ ...bus, retry: { retries: 0 }, requestTimeoutMs: REQUEST_TIMEOUT_MS });
    this.#consumer = this.#client.kafka.consumer({
      groupId,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: heartbeatMs(sessionTimeoutMs),
      rebalanceTimeout: Math.max(sessionTimeoutMs, 30_000),
      maxWaitTimeInMs: FETCH_WAIT_MS,
      allowAutoTopicCreation: false,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      // A short absence of the brokers is ridden out inside one membership.
      retry: {
        retries: 8,
        initialRetryTime: 100,
        maxRetryTime: 2_000,
        restartOnFailure: () => Promise.resolve(false),
      },
    });
    this.#gate = new PositionGate({
      ...options.gate,
      logger: bus.logger,
      signal: this.#stop.signal,
      seek: (partition, offset) => {
        this.#consumer.seek({ topic, partition, offset: String(offset) });
      },
    });
    this.#commits = new OffsetCommits(topic, options.commitIntervalMs);
  }

  get isJoined(): boolean {
    return this.#isJoined;
  }

  get hasJoined(): boolean {
    return this.#hasJoined;
  }

  /** Runs until the session ends; answers the error that ended it, or undefined when it was stopped. */
  async run(): Promise<unknown> {
    this.#listen();
    const watchdog = setInterval(() => this.#checkSilence(), 1_000);
    try {
      await this.#consumer.connect();
      await this.#consumer.subscribe({ topics: [this.#options.topic], fromBeginning: true });
      await this.#consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: this.#options.partitionsConsumedConcurrently,
        eachBatch: (payload) => this.#eachBatch(payload),
      });
      return await this.#ended.promise;
    } catch (error) {
      return error;
    } finally {
      clearInterval(watchdog);
      await this.#close();
    }
  }

  /** Lets the batches in hand finish their attempt, commits, leaves the group and ends `run`. */
  stop(): void {
    this.#stop.abort();
    this.#ended.resolve(undefined);
  }

  /** The partitions of this member that have nothing left to apply, none of them in the middle of a batch. */
  atEnd(ends: ReadonlyMap<number, PartitionEnds>): AtEnd | undefined {
    const found = this.#isJoined ? this.#gate.atEnd(ends) : undefined;
    if (found === undefined) return undefined;
    return { ...found, partitions: found.partitions.filter(({ partition }) => !this.#inHand.has(partition)) };
  }

  #listen(): void {
    const { events } = this.#consumer;
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      const partitions = payload.memberAssignment[this.#options.topic] ?? [];
      this.#isJoined = true;
      this.#hasJoined = true;
      this.#revoked = undefined;
      this.#commits.forget();
      this.#options.progress.assign(partitions, this.#noteActivity());
      this.#gate.assign(partitions);
    });
    this.#consumer.on(events.REBALANCING, () => {
      this.#isJoined = false;
    });
    this.#consumer.on(events.HEARTBEAT, () => this.#noteActivity());
    this.#consumer.on(events.FETCH, () => this.#noteActivity());
    this.#consumer.on(events.CRASH, ({ payload }) => this.#ended.resolve(payload.error));
  }

  #noteActivity(): number {
    this.#lastActivityMs = this.#options.clock.now();
    return this.#lastActivityMs;
  }

  #checkSilence(): void {
    if (this.#options.progress.isWorking()) return;
    if (this.#options.clock.now() - this.#lastActivityMs < SILENCE_LIMIT_MS) return;
    this.#ended.resolve(Object.assign(new Error('The consumer has gone silent'), { code: 'ETIMEDOUT' }));
    this.#client.destroySockets();
  }

  async #close(): Promise<void> {
    this.#isJoined = false;
    this.#stop.abort();
    await this.#commits.flush();
    const { promise: limit, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_LIMIT_MS);
    const stopped = this.#consumer.disconnect().catch(() => {});
    await Promise.race([stopped, limit]);
    clearTimeout(timer);
    this.#commits.stop();
    this.#client.destroySockets();
  }

  async #eachBatch(payload: EachBatchPayload): Promise<void> {
    if (this.#revoked !== undefined) throw this.#revoked;
    if (this.#stop.signal.aborted) return;
    this.#commits.commitWith((offsets) => payload.commitOffsetsIfNecessary(offsets));
    const over = new AbortController();
    let failure: unknown;
    const heartbeat = setInterval(() => {
      payload.heartbeat().catch((error: unknown) => {
        if (over.signal.aborted) return;
        failure = error;
        if (LOST_MEMBERSHIP.has(brokerErrorType(error) ?? '')) this.#revoked = error;
        over.abort();
      });
    }, heartbeatMs(this.#options.sessionTimeoutMs));
    const { partition } = payload.batch;
    this.#inHand.add(partition);
    try {
      await this.#applyBatch(payload, AbortSignal.any([over.signal, this.#stop.signal]));
    } catch (error) {
      this.stop();
      this.#options.onBug(error);
    } finally {
      this.#inHand.delete(partition);
      clearInterval(heartbeat);
      over.abort();
    }
    // The last chance to commit before the partitions go to others.
    if (failure !== undefined || this.#stop.signal.aborted) await this.#commits.flush();
    if (failure !== undefined) throw failure;
  }

  async #applyBatch(payload: EachBatchPayload, signal: AbortSignal): Promise<void> {
    const { runner, progress, clock } = this.#options;
    const { batch } = payload;
    const { partition } = batch;
    progress.noteEnd(partition, BigInt(batch.highWatermark));
    const fetchedOffset = fetchedOffsetOf(batch);
    const admission = await this.#gate.admit(partition, fetchedOffset, signal);
    if (admission === undefined) return;
    const isCurrent = (): boolean => this.#gate.isCurrent(admission);
    for (const stretch of this.#stretches(batch, fetchedOffset, admission)) {
      if (!(await runner.run(stretch, { signal, isCurrent }))) return;
      this.#noteActivity();
      if (!this.#gate.advance(admission, partition, stretch.nextOffset)) return;
      payload.resolveOffset(String(stretch.nextOffset - 1n));
      this.#commits.note(partition, stretch.nextOffset);
      progress.noteApplied(partition, stretch.nextOffset, clock.now());
    }
  }

  *#stretches(batch: KafkaBatch, fetchedOffset: bigint, { epoch }: Admission): Generator<Stretch> {
    const size = this.#options.maxBatchMessages;
    const { partition, messages } = batch;
    let fromOffset = fetchedOffset;
    for (let start = 0; start < messages.length; start += size) {
      const part = messages.slice(start, start + size).map((message) => toRawMessage(partition, message));
      const isLast = start + size >= messages.length;
      const nextOffset = (isLast ? BigInt(batch.lastOffset()) : (part.at(-1)?.offset ?? 0n)) + 1n;
      yield { partition, messages: part, fromOffset, nextOffset, epoch };
      fromOffset = nextOffset;
    }
  }
}

const LOST_MEMBERSHIP: ReadonlySet<string> = new Set([
  'REBALANCE_IN_PROGRESS',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'NOT_COORDINATOR_FOR_GROUP',
]);

const heartbeatMs = (sessionTimeoutMs: number): number => Math.floor(sessionTimeoutMs / 10);

/** Where the fetch began, which kafkajs keeps but does not declare: between it and the first message nothing exists. */
const fetchedOffsetOf = (batch: KafkaBatch): bigint => {
  const fetched: unknown = Reflect.get(batch, 'fetchedOffset');
  return BigInt(typeof fetched === 'string' ? fetched : (batch.firstOffset() ?? '0'));
};
