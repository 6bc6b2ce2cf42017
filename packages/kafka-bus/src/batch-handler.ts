import type { RawMessage } from './bus-message.ts';
import type { Outcome } from './outcome.ts';

/** A message that was understood, or why it was not. */
export type Decoded<Event> =
  | { readonly ok: true; readonly event: Event }
  | { readonly ok: false; readonly reason: string; readonly cause?: unknown };

export type BatchEvent<Event> = { offset: bigint; timestampMs: number; event: Event };

/** A stretch of one partition without a hole: everything from `fromOffset` up to `nextOffset`. */
export type Batch<Event> = {
  topic: string;
  partition: number;
  /** In offset order. May be empty when nothing of the stretch could be decoded: `nextOffset` is still to be written. */
  events: readonly BatchEvent<Event>[];
  fromOffset: bigint;
  /** What to write as applied, in the same step as the data. */
  nextOffset: bigint;
  /**
   * The epoch of the store in which the partition was positioned. The writes must be issued only while it is the
   * store's epoch, and must never be sent again by a later connection; otherwise answer `retry`.
   */
  epoch: number;
};

/** What a service does with a stream. It never sees offsets committed, retries or dead letters: it answers outcomes. */
export type BatchHandler<Event> = {
  /** Named in logs and in the `dlq-step` header. */
  name: string;
  /** Total and pure: anybody may have written the message. One that throws makes the message undecodable. */
  decode(message: RawMessage): Decoded<Event>;
  /**
   * Answers one outcome for each event, in the same order. Any `retry` means that the whole batch is applied again, so
   * applying twice must equal applying once. A throw is a bug: the consumer stops uncommitted and reports it as fatal.
   */
  applyBatch(batch: Batch<Event>): Promise<readonly Outcome[]>;
};

/** The applied offsets that a store keeps beside the data. */
export type AppliedPositions = {
  /** Rises whenever the store may have become another one: at every reconnect, and when it lost what was written. */
  epoch(): number;
  /** Partition to the next offset to apply; a partition that is absent was never applied. */
  read(): Promise<ReadonlyMap<number, bigint>>;
  /**
   * Called about once a second, never while a batch of one of these partitions is being applied: how many partitions the
   * topic has, and which had nothing left to apply at `asOfMs`. The place to notice that the store has lost what was
   * written to it, and to raise the epoch. A throw is a beat missed.
   */
  noteCaughtUp?(beat: {
    epoch: number;
    asOfMs: number;
    partitions: number;
    caughtUp: readonly { partition: number; nextOffset: bigint }[];
  }): Promise<void>;
};
