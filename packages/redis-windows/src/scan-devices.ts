import { cursorAt, positionOf } from './scan-position.ts';

export type ScanStep = {
  /** Tags that no earlier step has found. */
  tags: readonly string[];
  /** All found so far. */
  found: number;
  /** How much of the keyspace has been looked through, 0 to 1; 1: all of it. */
  share: number;
};

type Scanning = {
  /** One SCAN step: the next cursor, and the tags among its keys. */
  scan: (cursor: string) => Promise<readonly [next: string, tags: readonly string[]]>;
  random: () => number;
};

/**
 * One round over all devices from a random place on. Redis orders its keys by a keyed hash (SipHash), which knows nothing
 * of what a device watched: as many as anybody wants from a random place on are a random sample of them.
 */
export async function* scanDevices({ scan, random }: Scanning): AsyncGenerator<ScanStep> {
  let cursor = cursorAt(random());
  const start = positionOf(cursor);
  const seen = new Set<string>();
  let isWrapped = false;
  for (;;) {
    // Each step begins where the one before ended.
    // oxlint-disable-next-line no-await-in-loop
    const [next, tags] = await scan(cursor);
    const fresh = [...new Set(tags)].filter((tag) => !seen.has(tag));
    for (const tag of fresh) seen.add(tag);
    const position = positionOf(next);
    const isEnd = next === '0';
    const isRound = isEnd ? isWrapped || start === 0 : isWrapped && position >= start;
    const share = isWrapped ? 1 - start + position : (isEnd ? 1 : position) - start;
    yield { tags: fresh, found: seen.size, share: isRound ? 1 : Math.max(0, share) };
    if (isRound) return;
    isWrapped ||= isEnd;
    cursor = next;
  }
}
