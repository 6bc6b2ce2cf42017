import { hash } from 'node:crypto';

/** One-shot SHA-256 of UTF-8 text: about a third of the cost of `createHash` for short inputs. */
export const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

/**
 * A hash of a list that no other list shares: JSON quotes every part, so `["ab","c"]` and `["a","bc"]` differ, and the
 * first part says what kind of thing is hashed.
 */
export const sha256OfParts = (parts: readonly [kind: string, ...rest: (string | number | null)[]]): Buffer =>
  sha256(JSON.stringify(parts));
