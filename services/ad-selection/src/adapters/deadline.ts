/** The time that was given is up. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** The share of a span that this process must have waited, and not been busy, before it says that the other side is late. */
const LEAST_WAIT = 0.5;
/** How much longer than its span a deadline may last for that. */
const LONGEST_EXTENSION_MS = 10;
const EXTENSION_STEP_MS = 1;

/** Milliseconds that this process has spent waiting for something to happen. */
const waitedMs = (): number => performance.nodeTiming.idleTime;

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
   * The work's outcome if it comes in time, else DeadlineExceeded. Work that is late goes on by itself. Collecting garbage
   * or answering others is no waiting: the other side may not even have had a core meanwhile, and is given a moment.
   */
  race<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waitedBefore = waitedMs();
    const leastWaitMs = this.remainingMs() * LEAST_WAIT;
    let timer: NodeJS.Timeout | undefined;
    let immediate: NodeJS.Immediate | undefined;
    let extendedUntil: number | undefined;
    const isOver = (): boolean => {
      if (waitedMs() - waitedBefore >= leastWaitMs) return true;
      extendedUntil ??= performance.now() + LONGEST_EXTENSION_MS;
      return performance.now() >= extendedUntil;
    };
    const look = (): void => {
      // Timers cut fractions off, and end early.
      if (this.remainingMs() > 0) wait(this.remainingMs());
      else if (isOver()) reject(new DeadlineExceeded('the deadline has passed'));
      else wait(EXTENSION_STEP_MS);
    };
    // Timers run before sockets are read: one more turn takes what has arrived while this process was busy.
    const wait = (forMs: number): void => {
      timer = setTimeout(() => {
        immediate = setImmediate(look);
      }, Math.ceil(forMs));
    };
    const stop = (): void => {
      clearTimeout(timer);
      clearImmediate(immediate);
    };
    wait(this.remainingMs());
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
