import { type Dimension, type EpochMs, NO_VALUE, type ValueKey } from '@adcap/contracts';
import type { View } from './view.ts';

const NONE: readonly EpochMs[] = [];

/** The instants at which each value of each dimension was seen, ascending. */
export type Timeline = { instantsOf(dimension: Dimension, key: ValueKey): readonly EpochMs[] };

/** Sorts views by dimension and value, once, so that every cap of every candidate counts in logarithmic time. */
export const createTimeline = (views: readonly View[]): Timeline => {
  const lanes: Record<Dimension, Map<ValueKey, EpochMs[]>> = {
    creative: new Map(),
    campaign: new Map(),
    brand: new Map(),
    industry: new Map(),
  };
  const note = (dimension: Dimension, key: ValueKey, at: EpochMs): void => {
    if (key === NO_VALUE) return;
    const lane = lanes[dimension].get(key);
    if (lane === undefined) lanes[dimension].set(key, [at]);
    else lane.push(at);
  };
  for (const view of views.toSorted((a, b) => a.at - b.at)) {
    note('creative', view.creative, view.at);
    note('campaign', view.campaign, view.at);
    note('brand', view.brand, view.at);
    for (const industry of new Set(view.industries)) note('industry', industry, view.at);
  }
  return { instantsOf: (dimension, key) => lanes[dimension].get(key) ?? NONE };
};

/** How many of the ascending instants lie at or before `at`. */
const countUpTo = (instants: readonly EpochMs[], at: number): number => {
  let low = 0;
  let high = instants.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((instants[middle] ?? Number.POSITIVE_INFINITY) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Law 1: how many of the ascending instants lie in (at − windowMs, at]. */
export const countInWindow = (instants: readonly EpochMs[], at: EpochMs, windowMs: number): number =>
  instants.length === 0 ? 0 : countUpTo(instants, at) - countUpTo(instants, at - windowMs);
