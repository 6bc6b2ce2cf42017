type CommitPayload = { topics: { topic: string; partitions: { partition: number; offset: string }[] }[] };
type Commit = (offsets: CommitPayload) => Promise<void>;

/**
 * Commits applied offsets now and then instead of after every batch. A commit is only ever of offsets below which all
 * is applied, so a late or failed one costs a replay, and one made after the partition has moved on loses nothing.
 */
export class OffsetCommits {
  readonly #topic: string;
  readonly #timer: NodeJS.Timeout;
  readonly #applied = new Map<number, bigint>();
  #commit: Commit | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(topic: string, intervalMs: number) {
    this.#topic = topic;
    this.#timer = setInterval(() => void this.flush(), intervalMs);
  }

  commitWith(commit: Commit): void {
    this.#commit = commit;
  }

  note(partition: number, nextOffset: bigint): void {
    this.#applied.set(partition, nextOffset);
  }

  /** A new assignment begins at what is committed; what was not is read again. */
  forget(): void {
    this.#applied.clear();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** One commit at a time; never rejects: what could not be committed is committed with what follows. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flushNow());
    return this.#flushing;
  }

  async #flushNow(): Promise<void> {
    if (this.#applied.size === 0 || this.#commit === undefined) return;
    const taken = [...this.#applied];
    const partitions = taken.map(([partition, offset]) => ({ partition, offset: String(offset) }));
    try {
      await this.#commit({ topics: [{ topic: this.#topic, partitions }] });
      for (const [partition, offset] of taken) {
        if (this.#applied.get(partition) === offset) this.#applied.delete(partition);
      }
    } catch {
      // Still noted: the next flush tries again, or the session ends and the offsets are read again.
    }
  }
}
