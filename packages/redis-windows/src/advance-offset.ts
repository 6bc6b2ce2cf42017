import { clientOf, type RedisConnection, raiseEpoch } from './redis-connection.ts';
import { REFUSALS } from './script-codes.ts';
import { advanceApplied } from './scripts/advance-applied.ts';

/** How far a partition is applied now. */
export type AppliedStep = {
  partition: number;
  nextOffset: bigint;
  /** The receive time up to which its impressions are applied; undefined leaves what is known. */
  asOfMs: number | undefined;
  /** The epoch of the connection in which the partition was positioned; nothing is written in any other. */
  epoch: number;
};

type Seen = { epoch: number; offsets: Map<number, bigint> };

/**
 * What this process last read from or wrote to each hash of applied offsets. Shared by all that writes over one
 * connection: batches, heartbeats and the reading of positions must agree on it.
 */
const seenBy = new WeakMap<RedisConnection, Map<string, Seen>>();

/** What was seen in an earlier epoch says nothing about this one. */
const seenIn = (connection: RedisConnection, key: string): Map<number, bigint> => {
  const all = seenBy.get(connection) ?? new Map<string, Seen>();
  seenBy.set(connection, all);
  const epoch = connection.epoch();
  const known = all.get(key);
  if (known?.epoch === epoch) return known.offsets;
  const offsets = new Map<number, bigint>();
  all.set(key, { epoch, offsets });
  return offsets;
};

const IS_OFFSET = /^\d+$/;

/** partition → the next offset to apply, as Redis has them now. */
export const readOffsets = async (connection: RedisConnection, key: string): Promise<Map<number, bigint>> => {
  const epoch = connection.epoch();
  const stored = await clientOf(connection).hgetall(key);
  const offsets = new Map(
    Object.entries(stored)
      .filter(([field]) => IS_OFFSET.test(field))
      .map(([partition, offset]) => [Number(partition), BigInt(offset)] as const),
  );
  if (connection.epoch() === epoch) {
    const seen = seenIn(connection, key);
    seen.clear();
    for (const [partition, offset] of offsets) seen.set(partition, offset);
  }
  return offsets;
};

/**
 * Moves a partition on, if Redis still has what was last seen there. It has not: it was flushed or restored under a
 * connection that never broke, so the epoch rises as after a reconnect and every partition is put back. False, and
 * nothing written, then and in any other epoch than the step's. Throws when Redis is away.
 */
export const advanceOffset = async (
  connection: RedisConnection,
  key: string,
  { partition, nextOffset, asOfMs, epoch }: AppliedStep,
): Promise<boolean> => {
  if (connection.epoch() !== epoch) return false;
  const reply = await advanceApplied.run(connection, {
    keys: { applied: key },
    args: {
      partition,
      expectedOffset: String(seenIn(connection, key).get(partition) ?? ''),
      nextOffset: String(nextOffset),
      asOfMs: asOfMs ?? '',
    },
  });
  if (reply === REFUSALS.conflict) {
    raiseEpoch(connection, epoch);
    return false;
  }
  if (connection.epoch() === epoch) seenIn(connection, key).set(partition, nextOffset);
  return true;
};
