import { type EpochMs, epochMs, type Rule, type ValueKey, valueKey } from '@adcap/contracts';
import { type AdNames, compileRules, type Watched } from '@adcap/rule-engine';
import { watchedOf } from '../../src/domain/watched-ad.ts';

const keys = new Map<string, ValueKey>();
export const keyOf = (value: string): ValueKey => {
  const known = keys.get(value) ?? valueKey(keys.size + 1);
  keys.set(value, known);
  return known;
};

export const clock = (time: string): EpochMs => epochMs(Date.parse(`2026-03-02T${time}:00Z`));

/** `c1 08:00` each, oldest first. */
export const watched = (...lines: readonly string[]): Watched[] =>
  lines.map((line) => {
    const [creativeId = '', time = ''] = line.split(' ');
    return watchedOf({ creativeId, industryIds: [], at: clock(time) }, keyOf);
  });

export const ids = (creativeId: string): AdNames => ({ creativeId, industryIds: [] });

/** A cap on every creative, or on one. */
export const capRule = (id: string, max: number, of: Partial<Rule> & { window?: string } = {}): Rule => {
  const { window = '60m', ...more } = of;
  return { id, dimension: 'creative', limit: { max, window }, ...more };
};

export const rulesOf = (...rules: readonly Rule[]) => compileRules({ version: 1, dimensions: {}, rules });

/** The same numbers in every run (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
