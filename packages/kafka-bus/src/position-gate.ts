import { type Backoff, backoffDelayMs, DEFAULT_BACKOFF, pause, settledOrAborted } from './backoff.ts';
import type { AppliedPositions } from './batch-handler.ts';
import { bounded } from './bounded.ts';
import type { BusLogger } from './bus-settings.ts';
import type { AtEnd } from './catch-up-beat.ts';
import type { GroupOffsets, PartitionEnds } from './topic-offsets.ts';

export type PositionGateOptions = {
  /** Without it nothing is kept beside the data, and every batch of the current assignment is admitted. */
  applied: AppliedPositions | undefined;
  offsets: () => Promise<GroupOffsets>;
  seek: (partition: number, offset: bigint) => void;
  logger: BusLogger;
  random: () => number;
  /** When it fires the gate admits nothing more. */
  signal: AbortSignal;
  backoff?: Backoff;
};

/** The right to apply a batch: good for one assignment and one epoch of the store. */
export type Admission = { readonly generation: number; readonly epoch: number };

/** How often the store's epoch is looked at when no batch comes that would ask. */
const EPOCH_POLL_MS = 200;
/** A store that never answers must not keep a partition for ever. */
const READ_LIMIT_MS = 5_000;

/**
 * Keeps a partition without holes. The store may come back older than the committed offsets; so on every assignment
 * and after every reconnect of the store each partition is put back to min(committed, applied), and until then no
 * batch of it is admitted: a batch past a hole would write a higher applied offset and hide the hole for ever.
 */
export class PositionGate {
  readonly #options: PositionGateOptions;
  #generation = 0;
  #assigned: readonly number[] = [];
  #positioned: Admission | undefined;
  readonly #expected = new Map<number, bigint>();
  #positioning: Promise<void> | undefined;
  readonly #poll: NodeJS.Timeout | undefined;

  constructor(options: PositionGateOptions) {
    this.#options = options;
    if (options.applied === undefined) return;
    this.#poll = setInterval(() => {
      if (this.#assigned.length > 0 && this.#positioning === undefined) void this.#ensurePositioned();
    }, EPOCH_POLL_MS);
    options.signal.addEventListener('abort', () => clearInterval(this.#poll), { once: true });
  }

  /** A new assignment; positioned at once, also when nothing new is produced. */
  assign(partitions: readonly number[]): void {
    this.#generation += 1;
    this.#assigned = partitions;
    this.#positioned = undefined;
    this.#expected.clear();
    if (partitions.length > 0) void this.#ensurePositioned();
  }

  /**
   * Waits until the partition is positioned. Undefined when the batch must be left alone: it starts past a hole (the
   * partition has been put back), or the assignment is over.
   */
  async admit(partition: number, fetchedOffset: bigint, signal: AbortSignal): Promise<Admission | undefined> {
    const hadToPosition = !this.#isPositioned();
    await this.#ensurePositioned(signal);
    // A jump may also be a log whose beginning has gone: only the brokers know.
    if (!hadToPosition && this.#isPastHole(partition, fetchedOffset)) {
      this.#positioned = undefined;
      await this.#ensurePositioned(signal);
    }
    if (signal.aborted || !this.#isPositioned() || !this.#assigned.includes(partition)) return undefined;
    if (this.#isPastHole(partition, fetchedOffset)) {
      this.#options.seek(partition, this.#expected.get(partition) ?? 0n);
      return undefined;
    }
    return this.#positioned;
  }

  isCurrent({ generation, epoch }: Admission): boolean {
    return generation === this.#generation && epoch === this.#epoch() && this.#isPositioned();
  }

  /** Notes that the partition is applied up to `nextOffset`; false when the admission has expired meanwhile. */
  advance(admission: Admission, partition: number, nextOffset: bigint): boolean {
    if (!this.isCurrent(admission)) return false;
    if (this.#options.applied !== undefined) this.#expected.set(partition, nextOffset);
    return true;
  }

  /** The partitions that have nothing before these ends left to apply; undefined while their places are not known. */
  atEnd(ends: ReadonlyMap<number, PartitionEnds>): AtEnd | undefined {
    if (this.#options.signal.aborted || !this.#isPositioned()) return undefined;
    const partitions = [...this.#expected]
      .filter(([partition, nextOffset]) => nextOffset >= (ends.get(partition)?.high ?? nextOffset + 1n))
      .map(([partition, nextOffset]) => ({ partition, nextOffset }));
    return { epoch: this.#epoch(), partitions };
  }

  #epoch(): number {
    return this.#options.applied?.epoch() ?? 0;
  }

  #isPositioned(): boolean {
    return this.#positioned?.generation === this.#generation && this.#positioned.epoch === this.#epoch();
  }

  #isPastHole(partition: number, fetchedOffset: bigint): boolean {
    const expected = this.#expected.get(partition);
    return expected !== undefined && fetchedOffset > expected;
  }

  async #ensurePositioned(signal: AbortSignal = this.#options.signal): Promise<void> {
    while (!signal.aborted && !this.#options.signal.aborted && !this.#isPositioned()) {
      this.#positioning ??= this.#position().finally(() => {
        this.#positioning = undefined;
      });
      await settledOrAborted(this.#positioning, signal);
    }
  }

  async #position(): Promise<void> {
    const { applied, signal, logger, random, backoff = DEFAULT_BACKOFF } = this.#options;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const admission = { generation: this.#generation, epoch: this.#epoch() };
      try {
        if (applied !== undefined) await this.#place(applied, admission);
        // What was read belongs to an assignment or a store that is no more: once more.
        if (admission.generation !== this.#generation || admission.epoch !== this.#epoch()) continue;
        this.#positioned = admission;
        return;
      } catch (error) {
        if (attempt === 1)
          logger.warn({ err: error }, 'the applied offsets cannot be read, applying nothing');
        await pause(backoffDelayMs(attempt, backoff, random), signal);
      }
    }
  }

  async #place(appliedPositions: AppliedPositions, admission: Admission): Promise<void> {
    const { offsets, seek, logger } = this.#options;
    const assigned = this.#assigned;
    const [applied, { committed, ends }] = await Promise.all([
      bounded(appliedPositions.read(), READ_LIMIT_MS, 'The store did not answer in time'),
      offsets(),
    ]);
    if (admission.generation !== this.#generation || admission.epoch !== this.#epoch()) return;
    for (const partition of assigned) {
      const limit = ends.get(partition);
      if (limit === undefined) throw new Error(`The brokers do not know partition ${partition}`);
      const target = targetOffset(applied.get(partition), committed.get(partition), limit);
      const expected = this.#expected.get(partition);
      if (expected !== undefined && expected <= target) {
        // Already there or before it; what retention has removed cannot be waited for.
        if (expected < limit.low) this.#expected.set(partition, limit.low);
        continue;
      }
      const isFirst = expected === undefined;
      this.#expected.set(partition, target);
      // Where the client begins by itself. A seek would come after its first fetch, and have that read twice.
      if (!isFirst || target !== (committed.get(partition) ?? limit.low)) seek(partition, target);
      const bindings = { partition, offset: String(target), committed: String(committed.get(partition)) };
      if (target < (committed.get(partition) ?? target))
        logger.warn(bindings, 'the store is behind, reading again');
      else logger.debug(bindings, 'partition positioned');
    }
  }
}

/**
 * min(committed, applied) within the log. What was never applied or committed begins at the log's start; so does an
 * offset past the log's end, which belongs to an earlier topic of that name.
 */
export const targetOffset = (
  applied: bigint | undefined,
  committed: bigint | undefined,
  { low, high }: PartitionEnds,
): bigint => {
  if (applied === undefined || committed === undefined) return low;
  const target = applied < committed ? applied : committed;
  return target < low || target > high ? low : target;
};
