import { type EpochMs, epochMs, type Source } from '@adcap/contracts';
import { createPartitionOf } from '@adcap/kafka-bus';
import type { SharedReading } from '@adcap/redis-windows';

/** Up to when the impressions in Redis are applied, as last read. */
export type AppliedUntil = {
  note(reading: SharedReading): void;
  /** Of a device, for what a decision was read from. */
  of(deviceId: string, source: Source): EpochMs | undefined;
  /** Of the partition that is furthest behind; undefined where one is not known. */
  oldest(): EpochMs | undefined;
};

type Applied = SharedReading['applied'];

/**
 * The window is used where it holds at least what the history does: whatever either consumer has applied is seen. Where
 * the history was read it alone decides, the window having been passed over because it lacks something.
 */
const instantOf = (applied: Applied, partition: number, source: Source): EpochMs | undefined => {
  const history = applied.history.at.get(partition);
  const quota = applied.quota.at.get(partition);
  if (source === 'history' || quota === undefined) return history;
  return history === undefined ? quota : epochMs(Math.max(history, quota));
};

const partitionsOf = ({ history, quota }: Applied): number =>
  Math.max(history.partitions ?? 0, quota.partitions ?? 0);

/**
 * Failure policy: never throws. While Redis is away it keeps what it knew, which grows old; behind a reconnect nothing is
 * known until it is read again.
 */
export const createAppliedUntil = (epoch: () => number): AppliedUntil => {
  let newest: SharedReading | undefined;
  let partitions = 0;
  let partitionOf: (key: string) => number = () => 0;

  const current = (): Applied | undefined =>
    newest !== undefined && newest.epoch === epoch() && partitions > 0 ? newest.applied : undefined;

  return {
    note: (reading) => {
      newest = reading;
      const count = partitionsOf(reading.applied);
      if (count === partitions) return;
      partitions = count;
      partitionOf = createPartitionOf(count);
    },
    of: (deviceId, source) => {
      const applied = current();
      return applied === undefined ? undefined : instantOf(applied, partitionOf(deviceId), source);
    },
    oldest: () => {
      const applied = current();
      if (applied === undefined) return undefined;
      let oldest: EpochMs | undefined;
      for (let partition = 0; partition < partitions; partition += 1) {
        const at = instantOf(applied, partition, 'quotas');
        if (at === undefined) return undefined;
        oldest = oldest === undefined ? at : epochMs(Math.min(oldest, at));
      }
      return oldest;
    },
  };
};
