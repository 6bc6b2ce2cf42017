import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

const POLL_MS = 20;
const DEFAULT_TIMEOUT_MS = 20_000;

/**
 * Waits until a condition gives something truthy, and gives that. A condition that throws is asked again; when time is up, also
 * because the condition itself hangs, the error says what was waited for and what came last.
 */
export const waitFor = async <T>(
  condition: () => T | Promise<T>,
  options: { what: string; timeoutMs?: number },
): Promise<NonNullable<T>> => {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  let last: unknown = 'no answer yet';
  const over = new AbortController();
  const poll = async (): Promise<NonNullable<T> | undefined> => {
    while (!over.signal.aborted) {
      try {
        const value = await condition();
        if (value) return value;
        last = value;
      } catch (error) {
        last = error;
      }
      await delay(POLL_MS);
    }
    return undefined;
  };
  const deadline = new AbortController();
  const value = await Promise.race([
    poll(),
    delay(timeoutMs, undefined, { signal: deadline.signal }).catch(() => undefined),
  ]);
  over.abort();
  deadline.abort();
  if (value) return value;
  const shown = last instanceof Error ? last.message : inspect(last);
  throw new Error(`${options.what}: not within ${timeoutMs} ms; last: ${shown}`, { cause: last });
};
