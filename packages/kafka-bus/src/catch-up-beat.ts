import type { AppliedPositions } from './batch-handler.ts';
import type { Clock } from './bus-settings.ts';
import type { PartitionEnds } from './topic-offsets.ts';

/** The partitions that are applied up to their ends, and the epoch of the store in which they are. */
export type AtEnd = {
  epoch: number;
  partitions: readonly { partition: number; nextOffset: bigint }[];
};

export type CatchUpBeatOptions = {
  positions: AppliedPositions;
  ends: () => Promise<ReadonlyMap<number, PartitionEnds>>;
  atEnd: (ends: ReadonlyMap<number, PartitionEnds>) => AtEnd | undefined;
  clock: Clock;
};

const BEAT_MS = 1_000;

/**
 * Once a second tells the store that the partitions which have nothing left to apply are up to date: nothing is written
 * to an idle one that would say so, or would notice that the store has been emptied. Failure policy: brokers or a store
 * that do not answer miss a beat, and the instants in the store grow old. The answer ends it.
 */
export const startCatchUpBeat = ({
  positions,
  ends,
  atEnd,
  clock,
}: CatchUpBeatOptions): (() => Promise<void>) => {
  let beating: Promise<void> | undefined;
  const beat = async (): Promise<void> => {
    // Before asking: what is appended while the brokers answer may lie behind the ends that they tell.
    const asOfMs = clock.now();
    const found = await ends();
    // No turn may pass between looking and writing: a batch that begins in between would be overtaken.
    const at = atEnd(found);
    if (at === undefined) return;
    await positions.noteCaughtUp?.({
      epoch: at.epoch,
      asOfMs,
      partitions: found.size,
      caughtUp: at.partitions,
    });
  };
  const timer = setInterval(() => {
    beating ??= beat()
      .catch(() => {})
      .finally(() => {
        beating = undefined;
      });
  }, BEAT_MS);
  return async () => {
    clearInterval(timer);
    await beating;
  };
};
