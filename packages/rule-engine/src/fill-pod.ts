import { DIMENSIONS, type Dimension, type ValueKey } from '@adcap/contracts';
import { type Ad, valuesOf } from './ad.ts';
import { type Evaluation, leastRoom, type WeighedCap } from './evaluate-ad.ts';

/** What a duration counts as where an ad tells none. */
export const DEFAULT_DURATION_MS = 30_000;

export const durationOf = (ad: { durationMs?: number | undefined }): number =>
  ad.durationMs ?? DEFAULT_DURATION_MS;

export type Slot = { maxMs?: number | undefined };

/** An ad in its place; slots count from 1. One that was watched counts in windows as the impression that it became. */
export type Place = { slot: number; ad: Ad; watched?: boolean };

export type Pod = {
  slots: readonly Slot[];
  podDurationMs?: number | undefined;
  kept: readonly Place[];
  /** The caller has chosen the places itself: for each entry the only slot that it may have. */
  fixedSlots?: readonly number[] | undefined;
};

/** Why an entry had no slot: `full`, none was empty that it might have; `tooLong`, one was, but not for its duration. */
export type NoSlotReason = 'full' | 'tooLong';

/** What became of one entry: its slot, the cap that the pod's own grants filled, or that no slot was left for it. */
export type Fate =
  | { kind: 'placed'; slot: number }
  | { kind: 'capped' }
  | { kind: 'podCapped'; by: WeighedCap; granted: number }
  | { kind: 'noSlot'; why: NoSlotReason };

/** What a pod has granted, by value. */
class Grants {
  readonly #counts = new Map<Dimension, Map<ValueKey, number>>();

  add(ad: Ad): void {
    for (const dimension of DIMENSIONS) {
      const lane = this.#counts.get(dimension) ?? new Map<ValueKey, number>();
      this.#counts.set(dimension, lane);
      for (const key of new Set(valuesOf(ad, dimension).map((value) => value.key))) {
        lane.set(key, (lane.get(key) ?? 0) + 1);
      }
    }
  }

  under({ cap }: WeighedCap): number {
    return this.#counts.get(cap.rule.dimension)?.get(cap.value.key) ?? 0;
  }
}

/** A pod in the making. What was watched already counts in windows by itself, and in the pod all the same. */
class Filling {
  readonly #pod: Pod;
  readonly #promised = new Grants();
  readonly #inPod = new Grants();
  readonly #taken = new Set<number>();
  #durationMs = 0;

  constructor(pod: Pod) {
    this.#pod = pod;
    for (const place of pod.kept) this.take(place);
  }

  take({ ad, slot, watched = false }: Place): void {
    if (!watched) this.#promised.add(ad);
    this.#inPod.add(ad);
    this.#taken.add(slot);
    this.#durationMs += durationOf(ad);
  }

  /** The cap that leaves no room once this pod's own grants are counted, if any. */
  filled(evaluation: Evaluation): { by: WeighedCap; granted: number } | undefined {
    const left = leastRoom(
      evaluation.caps.map((by) => {
        const granted = (by.cap.windowMs === null ? this.#inPod : this.#promised).under(by);
        return { by, granted, standing: { room: by.standing.room - granted } };
      }),
    );
    return left !== undefined && left.standing.room <= 0 ? { by: left.by, granted: left.granted } : undefined;
  }

  /** The first empty slot that an ad fits into; where places are fixed, that of its entry. */
  slotFor(ad: Ad, entry: number): number | NoSlotReason {
    const { podDurationMs, slots, fixedSlots } = this.#pod;
    const durationMs = durationOf(ad);
    const isPodTooShort = podDurationMs !== undefined && this.#durationMs + durationMs > podDurationMs;
    let why: NoSlotReason = 'full';
    for (const [index, { maxMs = Infinity }] of slots.entries()) {
      const slot = index + 1;
      if (this.#taken.has(slot) || (fixedSlots !== undefined && fixedSlots[entry] !== slot)) continue;
      if (!isPodTooShort && durationMs <= maxMs) return slot;
      why = 'tooLong';
    }
    return why;
  }
}

/**
 * Fills a pod in the order of the entries, which is the ad server's preference: each takes the first empty slot that it
 * fits into, as long as every cap leaves room after the pod's own grants. An entry fills at most one slot; kept places
 * stay where they are and count. An exempt ad is never capped but counts for the others.
 *
 * @returns a fate for each entry, in order
 */
export const fillPod = (entries: readonly Evaluation[], pod: Pod): Fate[] => {
  const filling = new Filling(pod);
  return entries.map((evaluation, entry): Fate => {
    if (!evaluation.allowed) return { kind: 'capped' };
    const filled = filling.filled(evaluation);
    if (filled !== undefined) return { kind: 'podCapped', ...filled };
    const slot = filling.slotFor(evaluation.ad, entry);
    if (typeof slot === 'string') return { kind: 'noSlot', why: slot };
    filling.take({ ad: evaluation.ad, slot });
    return { kind: 'placed', slot };
  });
};

/**
 * Law 10, a break that was moved: which of its places still fit at the new instant, in slot order, each counting the
 * ones kept before it. What was watched stays.
 */
export const keepFitting = (
  places: readonly { slot: number; watched?: boolean; evaluation: Evaluation }[],
): number[] => {
  const filling = new Filling({ slots: [], kept: [] });
  return places
    .toSorted((a, b) => a.slot - b.slot)
    .filter(({ slot, watched = false, evaluation }) => {
      const fits = watched || (evaluation.allowed && filling.filled(evaluation) === undefined);
      if (fits) filling.take({ ad: evaluation.ad, slot, watched });
      return fits;
    })
    .map(({ slot }) => slot);
};
