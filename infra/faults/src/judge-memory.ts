import type { MemorySample } from './memory-watch.ts';

/** Under this a few collections of garbage are all there is to see. */
const SHORTEST_JUDGED_SECONDS = 60;
const ALLOWED_RATIO = 1.15;
/** What a process may take once, whatever it does: code that gets compiled, a new generation that is made larger. */
const ALLOWED_BYTES = { rss: 24 * 1_048_576, heap: 32 * 1_048_576 };

const mib = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;

const quarters = (values: readonly number[]): { first: readonly number[]; last: readonly number[] } => {
  const size = Math.ceil(values.length / 4);
  return { first: values.slice(0, size), last: values.slice(-size) };
};

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
/** What is left after a collection of garbage: the lowest value that was seen. */
const floor = (values: readonly number[]): number => Math.min(...values);

/** The last quarter of a fault against its first. Gives what is wrong. */
export const judgeMemory = (samples: readonly MemorySample[], seconds: number): string[] => {
  if (samples.length === 0) return ['the service told nothing of its memory'];
  if (seconds < SHORTEST_JUDGED_SECONDS) return [];
  const judged = [
    {
      what: 'resident memory',
      ...quarters(samples.map(({ rssBytes }) => rssBytes)),
      of: mean,
      allowed: ALLOWED_BYTES.rss,
    },
    {
      what: 'used heap',
      ...quarters(samples.map(({ heapBytes }) => heapBytes)),
      of: floor,
      allowed: ALLOWED_BYTES.heap,
    },
  ];
  return judged
    .map(({ what, first, last, of, allowed }) => ({ what, from: of(first), to: of(last), allowed }))
    .filter(({ from, to, allowed }) => !(to <= from * ALLOWED_RATIO + allowed))
    .map(({ what, from, to }) => `${what} grew from ${mib(from)} to ${mib(to)}`);
};
