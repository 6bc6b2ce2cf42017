import { setTimeout as delay } from 'node:timers/promises';

/** Half a deadline: a store that takes so long over a PING has not had a core, and no answer can be expected of it. */
const STANDSTILL_MS = 5;
const PAUSE_MS = 1;

/**
 * Pings the store from elsewhere all the time. On two cores that everything shares it sometimes stands still for longer than a
 * deadline; then an open answer is the right one, and says nothing about who asked.
 */
export const watchStore = (client: { ping(): Promise<unknown> }) => {
  const standstills: { from: number; to: number }[] = [];
  const closing = new AbortController();
  let askedAt = Date.now();
  const watching = (async () => {
    while (!closing.signal.aborted) {
      askedAt = Date.now();
      // oxlint-disable-next-line no-await-in-loop
      await client.ping();
      const to = Date.now();
      if (to - askedAt >= STANDSTILL_MS) standstills.push({ from: askedAt, to });
      askedAt = to;
      // oxlint-disable-next-line no-await-in-loop
      await delay(PAUSE_MS);
    }
  })();
  return {
    stoodStill: (from: number, to: number): boolean =>
      standstills.some((one) => one.from <= to && one.to >= from) || Date.now() - askedAt >= STANDSTILL_MS,
    close: async () => {
      closing.abort();
      await watching;
    },
  };
};
