import { type AppliedStep, advanceOffset, readOffsets } from './advance-offset.ts';
import type { Keys } from './keys.ts';
import { clientOf, inOneWrite, type RedisConnection } from './redis-connection.ts';

/** What was found when the brokers were asked how far the topic goes. */
export type CaughtUp = {
  epoch: number;
  /** When they were asked: whatever had been received and appended by then is applied. */
  asOfMs: number;
  /** How many partitions the topic has. */
  partitions: number;
  /** Those of this process that are applied up to their end. */
  caughtUp: readonly { partition: number; nextOffset: bigint }[];
};

/** Up to where each partition's events are in this Redis (law 15), and up to when they had been received. */
export type AppliedOffsets = {
  /** Rises when Redis may have come back older: what was read before no longer holds. */
  epoch(): number;
  /** partition → the next offset to apply; a partition that is missing was never applied. Throws when Redis is away. */
  read(): Promise<Map<number, bigint>>;
  /**
   * For a consumer whose writes are not those of an impression writer: moves a partition on, after them and in the epoch
   * in which it was positioned. False, and nothing written, in any other, and where Redis does not have what was last
   * written to it, which begins another. Throws when Redis is away.
   */
  write(step: AppliedStep): Promise<boolean>;
  /**
   * For partitions that nothing is written to: moves the instant up to which they are applied, and so notices a Redis
   * that was emptied or restored, as `write` does. Throws when Redis is away.
   */
  noteCaughtUp(beat: CaughtUp): Promise<void>;
};

/** The field with the number of partitions; the others are `<partition>` and `<partition>:at`. */
export const PARTITIONS_FIELD = 'partitions';

export const createAppliedOffsets = (
  connection: RedisConnection,
  keys: Keys,
  group: string,
): AppliedOffsets => {
  const key = keys.applied(group);
  return {
    epoch: () => connection.epoch(),
    read: () => readOffsets(connection, key),
    write: (step) => advanceOffset(connection, key, step),
    noteCaughtUp: async ({ epoch, asOfMs, partitions, caughtUp }) => {
      if (connection.epoch() !== epoch) return;
      await inOneWrite(connection, () =>
        Promise.all([
          clientOf(connection).hset(key, PARTITIONS_FIELD, partitions),
          ...caughtUp.map((step) => advanceOffset(connection, key, { ...step, asOfMs, epoch })),
        ]),
      );
    },
  };
};
