import { randomUUID } from 'node:crypto';
import { pause } from './backoff.ts';
import { bounded } from './bounded.ts';
import { BusUnavailable } from './bus-errors.ts';
import type { BusSettings } from './bus-settings.ts';
import { isReached } from './compacted-follower.ts';
import { FollowerSession } from './follower-session.ts';
import { type PartitionEnds, TopicOffsets } from './topic-offsets.ts';

export type NewestOptions = {
  bus: BusSettings;
  topic: string;
  /** At most so many, about the same number of each partition. */
  maxRecords: number;
  /** Of keys and values; reading ends with the record that passes it. */
  maxBytes: number;
  timeoutMs: number;
  signal?: AbortSignal;
};

export type NewestRecord = { key: string | null; value: Buffer | null; partition: number };

export type NewestRecords = {
  /** In the order of each partition. */
  records: readonly NewestRecord[];
  /** Whether the end of every partition was reached before time or room was up. */
  isComplete: boolean;
};

const startsOf = (ends: ReadonlyMap<number, PartitionEnds>, maxRecords: number): Map<number, bigint> => {
  const each = BigInt(Math.max(1, Math.floor(maxRecords / Math.max(1, ends.size))));
  return new Map(
    [...ends].map(([partition, { low, high }]) => [partition, high - each > low ? high - each : low]),
  );
};

const fetchEnds = async (
  { bus, topic, timeoutMs }: NewestOptions,
  offsets: TopicOffsets,
): Promise<ReadonlyMap<number, PartitionEnds>> => {
  try {
    return await bounded(offsets.ends(topic), timeoutMs, `${topic} does not say where it ends`);
  } catch (cause) {
    bus.logger.debug({ err: cause, topic }, 'the newest records cannot be read');
    throw new BusUnavailable('The brokers do not answer.', cause);
  } finally {
    void offsets.close();
  }
};

/** Several sessions where one fails: the first group that ever asks waits until the brokers can keep groups at all. */
const AGAIN_MS = 200;

/**
 * The newest records of a topic, once, with nothing kept on the brokers. Failure policy: throws BusUnavailable where the
 * brokers or the topic cannot be reached in time; once something was read it answers what it has when time is up, when
 * the brokers go away, and when `signal` aborts.
 */
export const readNewest = async (options: NewestOptions): Promise<NewestRecords> => {
  const { bus, topic, maxRecords, maxBytes, signal } = options;
  const timeUp = AbortSignal.timeout(options.timeoutMs);
  const over = signal === undefined ? timeUp : AbortSignal.any([timeUp, signal]);
  const ends = await fetchEnds(options, new TopicOffsets(bus));
  const next = startsOf(ends, maxRecords);
  const records: NewestRecord[] = [];
  const state = { bytes: 0, isComplete: isReached(ends, next) };
  const isFull = (): boolean => records.length >= maxRecords || state.bytes >= maxBytes;

  const readOn = async (): Promise<unknown> => {
    const session = new FollowerSession({
      bus,
      topic,
      groupId: `${bus.clientId}.newest.${randomUUID()}`,
      next,
      onRecord: (key, value, { partition }) => {
        if (isFull()) return;
        state.bytes += (key?.length ?? 0) + (value?.length ?? 0);
        records.push({ key, value, partition });
      },
      onProgress: (isAllRead) => {
        state.isComplete ||= state.bytes < maxBytes && (isAllRead || isReached(ends, next));
        if (state.isComplete || isFull()) session.stop();
      },
    });
    const stop = (): void => session.stop();
    over.addEventListener('abort', stop, { once: true });
    try {
      return await session.run();
    } finally {
      over.removeEventListener('abort', stop);
    }
  };

  let error: unknown;
  while (!state.isComplete && !isFull() && !over.aborted) {
    // One session after the other.
    // oxlint-disable-next-line no-await-in-loop
    error = await readOn();
    // oxlint-disable-next-line no-await-in-loop
    if (error !== undefined) await pause(AGAIN_MS, over);
  }
  if (records.length === 0 && !state.isComplete && signal?.aborted !== true)
    throw new BusUnavailable('The brokers let nobody read in time.', error);
  return { records, isComplete: state.isComplete };
};
