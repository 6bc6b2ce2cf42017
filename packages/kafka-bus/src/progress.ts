/** How far one partition is. */
export type PartitionProgress = {
  /** The next offset to apply; undefined until it is known. */
  nextOffset: bigint | undefined;
  /** The log's end as last heard of. */
  highWatermark: bigint | undefined;
  /** Messages between the two; undefined while either is unknown. */
  lag: bigint | undefined;
  lastProgressAtMs: number;
  /** The timestamp of the oldest message in hand that is not applied yet. */
  oldestUnappliedTimestampMs: number | undefined;
  /** How often the batch in hand has been tried; 0 with none in hand. */
  attempts: number;
};

type PartitionState = Omit<PartitionProgress, 'lag'> & { attemptStartedAtMs: number | undefined };

/** Keeps what health, liveness and lag metrics are made from. */
export class ProgressBook {
  readonly #partitions = new Map<number, PartitionState>();

  assign(partitions: readonly number[], nowMs: number): void {
    this.#partitions.clear();
    for (const partition of partitions) this.#partitions.set(partition, freshState(nowMs));
  }

  noteEnd(partition: number, highWatermark: bigint): void {
    const state = this.#partitions.get(partition);
    if (state !== undefined) state.highWatermark = highWatermark;
  }

  /** Where the partition stands while no batch has come that would say so. */
  noteStart(partition: number, nextOffset: bigint): void {
    const state = this.#partitions.get(partition);
    if (state !== undefined) state.nextOffset ??= nextOffset;
  }

  noteAttempt(partition: number, attempt: number, at: { nowMs: number; oldestTimestampMs: number }): void {
    const state = this.#partitions.get(partition);
    if (state === undefined) return;
    state.attempts = attempt;
    state.attemptStartedAtMs = at.nowMs;
    state.oldestUnappliedTimestampMs = at.oldestTimestampMs;
  }

  noteAttemptEnd(partition: number): void {
    const state = this.#partitions.get(partition);
    if (state !== undefined) state.attemptStartedAtMs = undefined;
  }

  noteApplied(partition: number, nextOffset: bigint, nowMs: number): void {
    const state = this.#partitions.get(partition);
    if (state === undefined) return;
    state.nextOffset = nextOffset;
    state.lastProgressAtMs = nowMs;
    state.oldestUnappliedTimestampMs = undefined;
    state.attempts = 0;
  }

  isWorking(): boolean {
    return [...this.#partitions.values()].some((state) => state.attemptStartedAtMs !== undefined);
  }

  /** Whether an attempt to apply a batch has run longer than the limit: the handler hangs. Retries are not stuck. */
  isStuck(nowMs: number, limitMs: number): boolean {
    return [...this.#partitions.values()].some(
      ({ attemptStartedAtMs }) => attemptStartedAtMs !== undefined && nowMs - attemptStartedAtMs > limitMs,
    );
  }

  snapshot(): ReadonlyMap<number, PartitionProgress> {
    return new Map([...this.#partitions].map(([partition, state]) => [partition, toProgress(state)]));
  }
}

const freshState = (nowMs: number): PartitionState => ({
  nextOffset: undefined,
  highWatermark: undefined,
  lastProgressAtMs: nowMs,
  oldestUnappliedTimestampMs: undefined,
  attempts: 0,
  attemptStartedAtMs: undefined,
});

const toProgress = ({ attemptStartedAtMs: _started, ...state }: PartitionState): PartitionProgress => {
  const { nextOffset, highWatermark } = state;
  if (nextOffset === undefined || highWatermark === undefined) return { ...state, lag: undefined };
  return { ...state, lag: highWatermark > nextOffset ? highWatermark - nextOffset : 0n };
};
