import { randomUUID } from 'node:crypto';
import { type Backoff, backoffDelayMs, pause } from './backoff.ts';
import type { BusSettings } from './bus-settings.ts';
import { FollowerSession } from './follower-session.ts';
import { type PartitionEnds, TopicOffsets } from './topic-offsets.ts';

export type FollowedRecord = { partition: number; offset: bigint; timestampMs: number };

export type FollowerOptions = {
  bus: BusSettings;
  topic: string;
  /**
   * Called for each record in the order of its partition; a null value is a deletion. After a lost connection the
   * last ones may come again. One that throws is logged and passed over: a bad record must not hide the later ones.
   */
  onRecord(key: string | null, value: Buffer | null, at: FollowedRecord): void;
  /** Called once, when `caughtUp` resolves. */
  onCaughtUp?(): void;
  random?: () => number;
};

export type Follower = {
  /** Resolves when everything that the topic held when it was first reached has been read. Never rejects. */
  readonly caughtUp: Promise<void>;
  /** Whether it is connected and has caught up. */
  isHealthy(): boolean;
  close(): Promise<void>;
};

const REJOIN: Backoff = { initialMs: 200, maxMs: 2_000 };

/**
 * Reads a topic from its start, then follows it, each instance by itself and with nothing kept on the brokers. Brokers
 * that are away at the start or later are waited for, for ever.
 */
export const followCompactedTopic = (options: FollowerOptions): Follower => {
  const { bus, topic, random = Math.random } = options;
  const offsets = new TopicOffsets(bus);
  const stop = new AbortController();
  const { promise: caughtUp, resolve: resolveCaughtUp } = Promise.withResolvers<void>();
  /** The next offset of each partition: where a new session goes on. */
  const next = new Map<number, bigint>();
  let endsAtStart: ReadonlyMap<number, PartitionEnds> | undefined;
  let session: FollowerSession | undefined;
  let isCaughtUp = false;

  const checkCaughtUp = (isAllRead: boolean): void => {
    if (isCaughtUp || endsAtStart === undefined) return;
    if (!isAllRead && !isReached(endsAtStart, next)) return;
    isCaughtUp = true;
    resolveCaughtUp();
    options.onCaughtUp?.();
  };

  const runSession = async (): Promise<unknown> => {
    try {
      endsAtStart ??= await offsets.ends(topic);
      checkCaughtUp(false);
    } catch (error) {
      return error;
    }
    // Closed meanwhile: nobody would stop a session that begins now.
    if (stop.signal.aborted) return undefined;
    session = new FollowerSession({
      bus,
      topic,
      groupId: `${bus.clientId}.follower.${randomUUID()}`,
      next,
      onRecord: (key, value, at) => options.onRecord(key, value, at),
      onProgress: checkCaughtUp,
    });
    return session.run();
  };

  const follow = async (): Promise<void> => {
    for (let failures = 1; !stop.signal.aborted; failures += 1) {
      const error = await runSession();
      if (stop.signal.aborted) return;
      if (session?.hasJoined === true) failures = 1;
      if (failures === 1)
        bus.logger.warn({ err: error, topic }, 'the topic cannot be followed, trying again');
      await pause(backoffDelayMs(failures, REJOIN, random), stop.signal);
    }
  };
  const following = follow();

  return {
    caughtUp,
    isHealthy: () => isCaughtUp && session?.isJoined === true,
    close: async () => {
      stop.abort();
      session?.stop();
      await following;
      await offsets.close();
    },
  };
};

/** Whether everything below these ends has been read. */
export const isReached = (
  ends: ReadonlyMap<number, PartitionEnds>,
  next: ReadonlyMap<number, bigint>,
): boolean =>
  [...ends].every(([partition, { low, high }]) => high <= low || (next.get(partition) ?? low) >= high);
