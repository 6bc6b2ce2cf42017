import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;
const DEFAULT_TIMEOUT_MS = 20_000;

/**
 * Waits until a condition gives something truthy, and gives that. A condition that throws is asked again; when time is up the
 * error says what was waited for and what came last.
 */
export const waitFor = async <T>(
  condition: () => T | Promise<T>,
  options: { what: string; timeoutMs?: number },
): Promise<NonNullable<T>> => {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  do {
    try {
      const value = await condition();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    await delay(POLL_MS);
  } while (performance.now() < deadline);
  const shown = last instanceof Error ? last.message : JSON.stringify(last);
  throw new Error(`${options.what}: not within ${timeoutMs} ms; last: ${shown}`, { cause: last });
};
