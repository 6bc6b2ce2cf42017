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

  /** The work's outcome if it comes in time, else DeadlineExceeded. Work that is late goes on by itself. */
  race<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const giveUp = (): void => reject(new DeadlineExceeded('the deadline has passed'));
    // Timers run before sockets are read: one more turn takes what has arrived while this process was busy. They also cut
    // fractions off, and would end early.
    let immediate: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      immediate = setImmediate(giveUp);
    }, Math.ceil(this.remainingMs()));
    const stop = (): void => {
      clearTimeout(timer);
      clearImmediate(immediate);
    };
    work.then(
      (outcome) => {
        stop();
        resolve(outcome);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
    return promise;
  }
}
