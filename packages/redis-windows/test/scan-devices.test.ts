import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scanDevices } from '../src/scan-devices.ts';
import { cursorAt, positionOf } from '../src/scan-position.ts';
import { gather } from './gather.ts';

/** Redis's own way of counting buckets (`dictScan`), over tables of 2 to the power of `bits`. */
const nextCursor = (cursor: bigint, bits: number): bigint => {
  const reverse = (value: bigint): bigint =>
    BigInt(`0b${value.toString(2).padStart(64, '0').split('').toReversed().join('')}`);
  const mask = (1n << BigInt(bits)) - 1n;
  return reverse((reverse(cursor | (~mask & 0xffff_ffff_ffff_ffffn)) + 1n) & 0xffff_ffff_ffff_ffffn);
};

/** A table of single buckets, each of which holds the tags that end in its number. */
const aTable = (bits: number, tags: readonly string[]) => ({
  scan: async (cursor: string) => {
    const bucket = BigInt(cursor) & ((1n << BigInt(bits)) - 1n);
    const inBucket = tags.filter((_, index) => BigInt(index) % (1n << BigInt(bits)) === bucket);
    return [String(nextCursor(BigInt(cursor), bits)), inBucket] as const;
  },
});

test('a round from any place finds every device once and knows when it is complete', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 6 }),
      fc.nat({ max: 200 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      async (bits, count, chance) => {
        const tags = Array.from({ length: count }, (_, index) => `tag ${index}`);
        const steps = await gather(scanDevices({ ...aTable(bits, tags), random: () => chance }));
        expect(steps.flatMap((step) => step.tags).toSorted()).toEqual(tags.toSorted());
        expect(steps.map(({ share }) => share)).toEqual(
          steps.map(({ share }) => share).toSorted((a, b) => a - b),
        );
        expect(steps.at(-1)).toMatchObject({ found: count, share: 1 });
        // One more than there are buckets where the round begins in the middle of one.
        expect(steps.length).toBeLessThanOrEqual(2 ** bits + 1);
      },
    ),
    { numRuns: 500 },
  );
});

test.for([
  ['0', 0],
  ['1', 0.5],
  ['2', 0.25],
  ['3', 0.75],
  ['6', 0.375],
] as const)('the cursor %s stands at %d', ([cursor, position]) => {
  expect(positionOf(cursor)).toBe(position);
});

test('a random place is a cursor that Redis can read', () => {
  expect([0, 0.999_999_999].map(cursorAt)).toEqual(['0', '281474976429181']);
});
