import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 50;
const PATIENCE_MS = 60_000;

/** Waits until a service says that it is ready. */
export const waitUntilReady = async (name: string, url: string, signal: AbortSignal): Promise<void> => {
  const deadline = performance.now() + PATIENCE_MS;
  let last = 'no answer';
  while (performance.now() < deadline && !signal.aborted) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- asked again only after an answer
      const response = await fetch(`${url}/readyz`, { signal });
      if (response.ok) return;
      // oxlint-disable-next-line no-await-in-loop -- as above
      last = await response.text();
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    // oxlint-disable-next-line no-await-in-loop -- as above
    await delay(POLL_MS);
  }
  if (!signal.aborted) throw new Error(`${name} is not ready after ${PATIENCE_MS / 1_000} s: ${last}`);
};
