import { setTimeout as delay } from 'node:timers/promises';

/** A scrape holds the service up for some milliseconds, which must not be one in a hundred answers. */
const EVERY_MS = 2_000;

export type MemorySample = { at: number; rssBytes: number; heapBytes: number };

const valueOf = (metrics: string, name: string): number =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN);

export const readMetric = async (url: string, name: string): Promise<number> =>
  valueOf(await (await fetch(`${url}/metrics`)).text(), name);

/** Notes every two seconds what the service says of its own memory. */
export const watchMemory = (url: string): Disposable & { samples: readonly MemorySample[] } => {
  const samples: MemorySample[] = [];
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const metrics = await (await fetch(`${url}/metrics`, { signal: over.signal })).text();
      samples.push({
        at: performance.timeOrigin + performance.now(),
        rssBytes: valueOf(metrics, 'process_resident_memory_bytes'),
        heapBytes: valueOf(metrics, 'nodejs_heap_size_used_bytes'),
      });
      // oxlint-disable-next-line no-await-in-loop -- as above
      await delay(EVERY_MS, undefined, { signal: over.signal });
    }
  };
  // A service that does not tell has no samples, which the verdict complains about.
  watch().catch(() => undefined);
  return { samples, [Symbol.dispose]: () => over.abort() };
};
