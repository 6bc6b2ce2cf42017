import { type Dimension, type EpochMs, NO_VALUE, type ValueKey } from '@adcap/contracts';
import type { View } from './view.ts';

const NONE: readonly EpochMs[] = [];

/** The instants at which each value of each dimension was seen, ascending. */
export type Timeline = { instantsOf(dimension: Dimension, key: ValueKey): readonly EpochMs[] };

type Lanes = Record<Dimension, Map<ValueKey, EpochMs[]>>;

const createLanes = (): Lanes => ({
  creative: new Map(),
  campaign: new Map(),
  brand: new Map(),
  industry: new Map(),
});

const note = (lane: Map<ValueKey, EpochMs[]>, key: ValueKey, at: EpochMs): void => {
  if (key === NO_VALUE) return;
  const instants = lane.get(key);
  if (instants === undefined) lane.set(key, [at]);
  else instants.push(at);
};

const noteView = (lanes: Lanes, view: View): void => {
  note(lanes.creative, view.creative, view.at);
  note(lanes.campaign, view.campaign, view.at);
  note(lanes.brand, view.brand, view.at);
  for (const industry of new Set(view.industries)) note(lanes.industry, industry, view.at);
};

/** Sorts views by dimension and value, once, so that every cap of every candidate counts in logarithmic time. */
export const createTimeline = (views: readonly View[]): Timeline => {
  const lanes = createLanes();
  for (const view of views.toSorted((a, b) => a.at - b.at)) noteView(lanes, view);
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

/** A timeline that is written down while time goes by. */
export type GrowingTimeline = Timeline & {
  /** A view that is no earlier than those before it. */
  add(view: View): void;
};

export const createGrowingTimeline = (): GrowingTimeline => {
  const lanes = createLanes();
  return {
    add: (view) => noteView(lanes, view),
    instantsOf: (dimension, key) => lanes[dimension].get(key) ?? NONE,
  };
};
