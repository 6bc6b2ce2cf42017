/**
 * How far a SCAN has come. A cursor counts the buckets of Redis's table in reversed binary, so that it stays valid while
 * the table grows or shrinks: its bits read backwards, as a fraction, rise from 0 to 1 over a whole round, whatever the
 * size of the table is.
 */

const CURSOR_BITS = 64;
/** More than any table has buckets in a power of two; the lowest bits alone name the bucket. */
const RANDOM_BITS = 48;

const reversed = (bits: string): string => bits.split('').toReversed().join('');

/** Where in the round a cursor stands, 0 to 1. */
export const positionOf = (cursor: string): number =>
  Number(BigInt(`0b${reversed(BigInt(cursor).toString(2).padStart(CURSOR_BITS, '0'))}`)) / 2 ** CURSOR_BITS;

/**
 * A cursor that Redis never gave out. Its manual promises only that such a one does no harm; what it does is in
 * `dictScan`, the same since SCAN exists: bits beyond the table are ignored, and the round begins in the bucket that the
 * others name. On a server that counts otherwise the sample may not be random.
 *
 * @param chance 0 to 1, exclusive
 */
export const cursorAt = (chance: number): string => String(Math.floor(chance * 2 ** RANDOM_BITS));
