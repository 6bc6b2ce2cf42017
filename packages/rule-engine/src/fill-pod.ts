import type { Dimension, ValueKey } from '@adcap/contracts';
import { type Ad, valuesOf } from './ad.ts';
import { type Evaluation, leastRoom, type WeighedCap } from './evaluate-ad.ts';

/** What a duration counts as where an ad tells none. */
export const DEFAULT_DURATION_MS = 30_000;

export const durationOf = (ad: { durationMs?: number | undefined }): number =>
  ad.durationMs ?? DEFAULT_DURATION_MS;

export type Slot = { maxMs?: number | undefined };

/** An ad in its place; slots count from 1. */
export type Place = { slot: number; ad: Ad };

export type Pod = { slots: readonly Slot[]; podDurationMs?: number | undefined; kept: readonly Place[] };

/** What became of one entry: its slot, the cap that the pod's own grants filled, or that no slot was left for it. */
export type Fate =
  | { kind: 'placed'; slot: number }
  | { kind: 'capped' }
  | { kind: 'podCapped'; by: WeighedCap; granted: number }
  | { kind: 'noSlot' };

/** Counts what the pod itself has granted, by value. */
const createGrants = (): { add(ad: Ad): void; of(dimension: Dimension, key: ValueKey): number } => {
  const counts = new Map<Dimension, Map<ValueKey, number>>();
  const lane = (dimension: Dimension): Map<ValueKey, number> => {
    const known = counts.get(dimension) ?? new Map<ValueKey, number>();
    counts.set(dimension, known);
    return known;
  };
  return {
    add: (ad) => {
      for (const dimension of ['creative', 'campaign', 'brand', 'industry'] as const) {
        const known = lane(dimension);
        for (const key of new Set(valuesOf(ad, dimension).map((value) => value.key))) {
          known.set(key, (known.get(key) ?? 0) + 1);
        }
      }
    },
    of: (dimension, key) => counts.get(dimension)?.get(key) ?? 0,
  };
};

type Grants = ReturnType<typeof createGrants>;

const grantedUnder = ({ cap }: WeighedCap, grants: Grants): number =>
  grants.of(cap.rule.dimension, cap.value.key);

/** The cap that leaves no room once this pod's own grants are counted, if any. */
const filledByPod = (
  evaluation: Evaluation,
  grants: Grants,
): { by: WeighedCap; granted: number } | undefined => {
  const left = leastRoom(
    evaluation.caps.map((by) => {
      const granted = grantedUnder(by, grants);
      return { by, granted, standing: { room: by.standing.room - granted } };
    }),
  );
  return left !== undefined && left.standing.room <= 0 ? { by: left.by, granted: left.granted } : undefined;
};

const findSlot = (
  ad: Ad,
  pod: Pod,
  taken: { slots: ReadonlySet<number>; durationMs: number },
): number | undefined => {
  const durationMs = durationOf(ad);
  if (pod.podDurationMs !== undefined && taken.durationMs + durationMs > pod.podDurationMs) return undefined;
  const index = pod.slots.findIndex(
    (slot, place) => !taken.slots.has(place + 1) && (slot.maxMs === undefined || durationMs <= slot.maxMs),
  );
  return index === -1 ? undefined : index + 1;
};

/**
 * Fills a pod in the order of the entries, which is the ad server's preference: each takes the first empty slot that it
 * fits into, as long as every cap leaves room after the pod's own grants. An entry fills at most one slot; kept places
 * stay where they are and count. An exempt ad is never capped but counts for the others.
 *
 * @returns a fate for each entry, in order
 */
export const fillPod = (entries: readonly Evaluation[], pod: Pod): Fate[] => {
  const grants = createGrants();
  const taken = new Set<number>();
  let durationMs = 0;
  const take = (ad: Ad, slot: number): void => {
    grants.add(ad);
    taken.add(slot);
    durationMs += durationOf(ad);
  };
  for (const place of pod.kept) take(place.ad, place.slot);
  return entries.map((evaluation): Fate => {
    if (!evaluation.allowed) return { kind: 'capped' };
    const filled = filledByPod(evaluation, grants);
    if (filled !== undefined) return { kind: 'podCapped', ...filled };
    const slot = findSlot(evaluation.ad, pod, { slots: taken, durationMs });
    if (slot === undefined) return { kind: 'noSlot' };
    take(evaluation.ad, slot);
    return { kind: 'placed', slot };
  });
};

/**
 * Law 10, a break that was moved: which of its places still fit at the new instant, in slot order, each counting the
 * ones kept before it.
 */
export const keepFitting = (places: readonly { slot: number; evaluation: Evaluation }[]): number[] => {
  const grants = createGrants();
  return places
    .toSorted((a, b) => a.slot - b.slot)
    .filter(({ evaluation }) => {
      const fits = evaluation.allowed && filledByPod(evaluation, grants) === undefined;
      if (fits) grants.add(evaluation.ad);
      return fits;
    })
    .map(({ slot }) => slot);
};
