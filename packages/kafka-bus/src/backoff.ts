/** How retries are spread: full jitter, so that consumers that failed together do not come back together. */
export type Backoff = { initialMs: number; maxMs: number };

export const DEFAULT_BACKOFF: Backoff = { initialMs: 50, maxMs: 5_000 };

/** The wait before retry number `attempt` (from 1): uniform in (0, min(max, initial * 2^(attempt - 1))], at least 1 ms. */
export const backoffDelayMs = (attempt: number, backoff: Backoff, random: () => number): number => {
  const ceilingMs = Math.min(backoff.maxMs, backoff.initialMs * 2 ** Math.min(attempt - 1, 30));
  return Math.max(1, Math.ceil(ceilingMs * random()));
};

/** Waits, or returns early when the signal fires; never throws. */
export const pause = (delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener('abort', done, { once: true });
  });

/** Waits for the work, but no longer than the signal allows; the work's own failure is its owner's concern. */
export const settledOrAborted = async (work: Promise<unknown>, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => resolve();
  if (signal.aborted) done();
  signal.addEventListener('abort', done, { once: true });
  await Promise.race([promise, work.catch(() => {})]);
  signal.removeEventListener('abort', done);
};
