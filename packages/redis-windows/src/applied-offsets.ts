import type { Keys } from './keys.ts';
import { clientOf, type RedisConnection } from './redis-connection.ts';

/** Up to where each partition's events are in this Redis (law 15). */
export type AppliedOffsets = {
  /** Rises when Redis may have come back older: what was read before no longer holds. */
  epoch(): number;
  /** partition → the next offset to apply; a partition that is missing was never applied. Throws when Redis is away. */
  read(): Promise<Map<number, bigint>>;
  /**
   * For a consumer whose writes are not those of an impression writer: moves a partition on, after them and in the epoch
   * in which it was positioned. False, and nothing written, in any other. Throws when Redis is away.
   */
  write(partition: number, nextOffset: bigint, epoch: number): Promise<boolean>;
};

export const createAppliedOffsets = (
  connection: RedisConnection,
  keys: Keys,
  group: string,
): AppliedOffsets => ({
  epoch: () => connection.epoch(),
  read: async () => {
    const stored = await clientOf(connection).hgetall(keys.applied(group));
    return new Map(
      Object.entries(stored).map(([partition, offset]) => [Number(partition), BigInt(offset)] as const),
    );
  },
  write: async (partition, nextOffset, epoch) => {
    if (connection.epoch() !== epoch) return false;
    await clientOf(connection).hset(keys.applied(group), String(partition), String(nextOffset));
    return true;
  },
});
