import { type ValueKey, valueKey } from '@adcap/contracts';
import { LRUCache } from 'lru-cache';
import { sha256 } from './sha256.ts';

const KEY_BYTES = 6;
/** A catalogue of creatives, campaigns, brands and industries fits; what does not is hashed again (1 µs). */
const CACHED_VALUES = 50_000;

const cache = new LRUCache<string, ValueKey>({ max: CACHED_VALUES });

/** 0 is taken: it stands for a dimension that an ad has no value in. */
const neverNone = (key: number): ValueKey => valueKey(key === 0 ? 1 : key);

/** A dimension's value as the 48-bit number under which windows count it: the first 6 bytes of its SHA-256. */
export const valueKeyOf = (value: string): ValueKey => {
  const cached = cache.get(value);
  if (cached !== undefined) return cached;
  const key = neverNone(sha256(value).readUIntBE(0, KEY_BYTES));
  cache.set(value, key);
  return key;
};
