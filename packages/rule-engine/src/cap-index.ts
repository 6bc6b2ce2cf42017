import { parseWindowMs, type Rule } from '@adcap/contracts';
import { meetingPlace, whenKey } from './meeting-place.ts';

export type EnforcedCap = Rule & { limit: { max: number; window: string } };

/** The same views counted over at least as long a time: pod windows know no time and are only compared to one another. */
const reachOf = ({ limit }: EnforcedCap): number | undefined => parseWindowMs(limit.window);

const bySeverity = (a: EnforcedCap, b: EnforcedCap): number => a.limit.max - b.limit.max;

/** Caps of one place, the fewest views first, each with the one that reaches farthest among those up to it. */
type Lane = { caps: readonly EnforcedCap[]; farthest: readonly EnforcedCap[] };

const laneOf = (caps: readonly EnforcedCap[]): Lane => {
  const sorted = caps.toSorted(bySeverity);
  const farthest: EnforcedCap[] = [];
  for (const cap of sorted) {
    const best = farthest.at(-1);
    farthest.push(best === undefined || (reachOf(cap) ?? 0) > (reachOf(best) ?? 0) ? cap : best);
  }
  return { caps: sorted, farthest };
};

/** How many caps of a lane allow at most so many views. */
const countUpTo = ({ caps }: Lane, max: number): number => {
  let [low, high] = [0, caps.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((caps[middle]?.limit.max ?? Infinity) <= max) low = middle + 1;
    else high = middle;
  }
  return low;
};

const isUntimed = (rule: Rule): boolean => rule.startsAt === undefined && rule.endsAt === undefined;

const EVERYWHERE = '[]';

/** Answers without comparing a cap to every other: is there one in a place that always blocks first? */
export class CapIndex {
  readonly #lanes: ReadonlyMap<string, Lane>;
  /** A cap is held against several rungs. */
  readonly #whenKeys = new Map<Rule, string>();

  constructor(caps: readonly EnforcedCap[]) {
    // A cap that has its time does not always hold.
    const byPlace = Map.groupBy(caps.filter(isUntimed), (cap) => this.#nameOf(meetingPlace(cap), cap));
    this.#lanes = new Map([...byPlace].map(([name, members]) => [name, laneOf(members)]));
  }

  #nameOf(place: string, cap: EnforcedCap): string {
    return cap.limit.window === 'pod' ? `pod ${place}` : place;
  }

  #whenKeyOf(cap: EnforcedCap): string {
    const known = this.#whenKeys.get(cap);
    if (known !== undefined) return known;
    const key = whenKey(cap);
    this.#whenKeys.set(cap, key);
    return key;
  }

  /**
   * A cap on a rung that allows no more views over at least as long a time and applies wherever this one does: without `when`, or
   * under the same one.
   */
  stricter(cap: EnforcedCap, rung: string): EnforcedCap | undefined {
    const own = this.#whenKeyOf(cap);
    for (const where of own === EVERYWHERE ? [EVERYWHERE] : [EVERYWHERE, own]) {
      const lane = this.#lanes.get(this.#nameOf(JSON.stringify([rung, where]), cap));
      const found = lane?.farthest[countUpTo(lane, cap.limit.max) - 1];
      const reaches = found !== undefined && (reachOf(found) ?? 0) >= (reachOf(cap) ?? 0);
      if (reaches && found !== cap) return found;
    }
    return undefined;
  }
}
