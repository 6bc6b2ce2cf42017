import { type Backoff, backoffDelayMs, DEFAULT_BACKOFF, pause } from './backoff.ts';
import type { AppliedPositions, BatchHandler } from './batch-handler.ts';
import { BatchRunner, type ConsumerMetrics } from './batch-runner.ts';
import { isRetryableBusError } from './bus-errors.ts';
import { type BusSettings, type Clock, systemClock } from './bus-settings.ts';
import { startCatchUpBeat } from './catch-up-beat.ts';
import type { DeadLetterSettings } from './dead-letter.ts';
import { GroupSession } from './group-session.ts';
import { type PartitionProgress, ProgressBook } from './progress.ts';
import { type GroupOffsets, TopicOffsets } from './topic-offsets.ts';

export type ConsumerOptions<Event> = {
  bus: BusSettings;
  topic: string;
  groupId: string;
  handler: BatchHandler<Event>;
  deadLetter: DeadLetterSettings;
  /** The applied offsets that the store keeps beside the data; without them only committed offsets count. */
  positions?: AppliedPositions;
  /** The consumer has ended for good, uncommitted: the process should exit and be started again. Called once. */
  onFatal(error: unknown): void;
  partitionsConsumedConcurrently?: number;
  maxBatchMessages?: number;
  backoff?: Backoff;
  /** How soon the group gives a vanished member's partitions to others. */
  sessionTimeoutMs?: number;
  commitIntervalMs?: number;
  random?: () => number;
  clock?: Clock;
  metrics?: ConsumerMetrics;
};

export type Consumer = {
  /** Finishes the attempts in hand, commits and leaves the group; `progress` stays readable. */
  stopConsuming(): Promise<void>;
  close(): Promise<void>;
  progress(): ReadonlyMap<number, PartitionProgress>;
  /** Whether a batch is being applied for longer than the limit, for liveness. Waiting for a retry is not stuck. */
  isStuck(nowMs: number, limitMs: number): boolean;
  /** Whether it is in its group and not ended. */
  isHealthy(): boolean;
};

const DEFAULTS = {
  partitionsConsumedConcurrently: 8,
  maxBatchMessages: 500,
  backoff: DEFAULT_BACKOFF,
  sessionTimeoutMs: 10_000,
  commitIntervalMs: 500,
  random: Math.random,
  clock: systemClock,
  metrics: {},
} as const;

const REJOIN: Backoff = { initialMs: 500, maxMs: 5_000 };
const END_POLL_MS = 5_000;

/** Consumes a topic in a group, from its beginning when the group is new. Joins in the background, for ever. */
export const runConsumer = <Event>(options: ConsumerOptions<Event>): Consumer => {
  const settings = { ...DEFAULTS, ...options };
  const { bus, topic, groupId, random } = settings;
  const progress = new ProgressBook();
  const offsets = new TopicOffsets(bus);
  const stop = new AbortController();
  const ended = new AbortController();
  let session: GroupSession<Event> | undefined;

  const end = (error: unknown): void => {
    if (ended.signal.aborted) return;
    ended.abort();
    bus.logger.error({ err: error, groupId, topic }, 'the consumer has ended');
    options.onFatal(error);
  };

  const isOver = (): boolean => stop.signal.aborted || ended.signal.aborted;

  const openSession = (): GroupSession<Event> =>
    new GroupSession({
      ...settings,
      progress,
      runner: new BatchRunner({ ...settings, logger: bus.logger, progress }),
      gate: {
        applied: options.positions,
        offsets: () => offsets.ofGroup(groupId, topic),
        random,
      },
      onBug: end,
    });

  const consume = async (): Promise<void> => {
    let failures = 0;
    while (!isOver()) {
      session = openSession();
      const error = await session.run();
      if (isOver()) return;
      if (!isRetryableBusError(error)) {
        end(explained(error));
        return;
      }
      failures = session.hasJoined ? 1 : failures + 1;
      if (failures === 1)
        bus.logger.warn({ err: error, groupId, topic }, 'the consumer lost its brokers, joining again');
      await pause(backoffDelayMs(failures, REJOIN, random), stop.signal);
    }
  };

  const notePositions = ({ ends, committed }: GroupOffsets): void => {
    for (const [partition, { low, high }] of ends) {
      progress.noteEnd(partition, high);
      progress.noteStart(partition, committed.get(partition) ?? low);
    }
  };
  // A stuck partition gets no batch that would tell how far the log has gone on.
  const endPoll = setInterval(() => {
    offsets.ofGroup(groupId, topic).then(notePositions, () => {});
  }, END_POLL_MS);
  const { positions } = options;
  const stopBeat =
    positions?.noteCaughtUp === undefined
      ? undefined
      : startCatchUpBeat({
          positions,
          ends: () => offsets.ends(topic),
          atEnd: (ends) => session?.atEnd(ends),
          clock: settings.clock,
        });
  const consuming = consume();

  const stopConsuming = async (): Promise<void> => {
    stop.abort();
    session?.stop();
    await consuming;
  };

  return {
    stopConsuming,
    close: async () => {
      clearInterval(endPoll);
      await stopConsuming();
      await Promise.all([stopBeat?.(), offsets.close()]);
    },
    progress: () => progress.snapshot(),
    isStuck: (nowMs, limitMs) => progress.isStuck(nowMs, limitMs),
    isHealthy: () => !isOver() && session?.isJoined === true,
  };
};

/** The one error that a topic's own setting causes is told as such. */
const explained = (error: unknown): unknown => {
  const text = error instanceof Error ? `${error.name} ${error.message} ${String(error.cause)}` : '';
  if (!/NotImplemented|compression not implemented/i.test(text)) return error;
  const advice =
    'A message is compressed in a way that cannot be read: set compression.type of the topic to gzip or uncompressed';
  return new Error(advice, { cause: error });
};
