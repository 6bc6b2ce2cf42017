import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

const POLL_MS = 50;
const PATIENCE_MS = 60_000;

const reportSchema = z.object({ checks: z.record(z.string(), z.object({ ok: z.boolean() })) });

/** Asks a service until it is ready and what it says of itself is good enough. */
const askUntil = async (
  { name, url }: { name: string; url: string },
  isGood: (report: string) => boolean,
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
      if (response.ok && isGood(last)) return;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    // oxlint-disable-next-line no-await-in-loop -- as above
    await delay(POLL_MS);
  }
  if (!signal.aborted) throw new Error(`${name} is not ready after ${PATIENCE_MS / 1_000} s: ${last}`);
};

/** Waits until a service says that it is ready. */
export const waitUntilReady = (name: string, url: string, signal: AbortSignal): Promise<void> =>
  askUntil({ name, url }, () => true, signal);

/** Waits also for one of its checks, without which a service is ready and answers less. */
export const waitUntilGood = (
  service: { name: string; url: string },
  check: string,
  signal: AbortSignal,
): Promise<void> =>
  askUntil(service, (report) => reportSchema.parse(JSON.parse(report)).checks[check]?.ok === true, signal);
