/** The time that was given is up. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** A span of time that several steps share. */
export class Deadline {
  readonly #endsAt: number;

  constructor(spanMs: number) {
    this.#endsAt = performance.now() + spanMs;
  }

  /** Milliseconds that are left, never below 0. */
  remainingMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /**
   * The work's outcome if it comes in time, else DeadlineExceeded. Work that is late goes on by itself; how it ends is told to
   * `late` where somebody must know.
   */
  async race<T>(work: Promise<T>, late: (outcome: T) => void = () => undefined): Promise<T> {
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new DeadlineExceeded('the deadline has passed'));
    }, this.remainingMs());
    work.then(
      (outcome) => {
        if (isLate) late(outcome);
      },
      () => undefined,
    );
    try {
      return await Promise.race([work, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
