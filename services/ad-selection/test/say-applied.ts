import { createAppliedOffsets, createKeys, type RedisConnection } from '@adcap/redis-windows';

/** Has a consumer group say up to when it has applied each partition, as it does once a second. */
export const sayApplied = async (
  connection: RedisConnection,
  said: { keyPrefix: string; group: string; asOf: readonly (number | undefined)[] },
): Promise<void> => {
  const offsets = createAppliedOffsets(connection, createKeys(said.keyPrefix), said.group);
  const epoch = offsets.epoch();
  await offsets.noteCaughtUp({ epoch, asOfMs: 0, partitions: said.asOf.length, caughtUp: [] });
  await Promise.all(
    said.asOf.map(async (asOfMs, partition) => {
      if (asOfMs !== undefined) await offsets.write({ partition, nextOffset: 1n, asOfMs, epoch });
    }),
  );
};
