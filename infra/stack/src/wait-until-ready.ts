import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

const POLL_MS = 50;
const PATIENCE_MS = 60_000;

const reportSchema = z.object({ checks: z.record(z.string(), z.object({ ok: z.boolean() })) });

const isGood = (report: string, check: string | undefined): boolean =>
  check === undefined || reportSchema.parse(JSON.parse(report)).checks[check]?.ok === true;

/**
 * Waits until a service says that it is ready; with `check` also until that check is good, which a service without it may
 * be ready without.
 */
export const waitUntilReady = async (
  name: string,
  { url, check }: { url: string; check?: string | undefined },
  signal: AbortSignal,
): Promise<void> => {
  const deadline = performance.now() + PATIENCE_MS;
  let last = 'no answer';
  while (performance.now() < deadline && !signal.aborted) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- asked again only after an answer
      const response = await fetch(`${url}/readyz`, { signal });
      // oxlint-disable-next-line no-await-in-loop -- as above
      last = await response.text();
      if (response.ok && isGood(last, check)) return;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    // oxlint-disable-next-line no-await-in-loop -- as above
    await delay(POLL_MS);
  }
  if (!signal.aborted) throw new Error(`${name} is not ready after ${PATIENCE_MS / 1_000} s: ${last}`);
};
