import { DIMENSIONS, type Dimension, type EpochMs, NO_VALUE, type ValueKey } from '@adcap/contracts';
import {
  type AdNames,
  type CompiledRules,
  createTimeline,
  evaluateAd,
  type KeyOf,
  type Reservation,
  toAd,
  type View,
  type WeighedCap,
} from '@adcap/rule-engine';
import { createExplanation, type ExplanationLine } from './explanation.ts';

/** The readable values of an impression. */
export type Watched = AdNames;

/** An impression as it counts; its creative is readable where the history has it. */
export type Counted = View & { creativeId: string | null };

/** Where one cap stands for one value, and what counts in its window. */
export type CapReport = {
  ruleId: string;
  dimension: Dimension;
  value: string;
  max: number;
  windowMs: number;
  used: number;
  reserved: number;
  remaining: number;
  at: EpochMs;
  impressions: { at: EpochMs; creativeId: string | null }[];
  reservations: { id: string; slot: number; breakAt: EpochMs }[];
};

/** One ad that was watched: whether it would be allowed once more, and what became of every rule that names it. */
export type AdReport = Watched & {
  allowed: boolean;
  remaining: number | null;
  nextAllowedAt?: EpochMs;
  rules: ExplanationLine[];
};

type Facts = { counted: readonly Counted[]; reservations: readonly Reservation[] };

const keysIn = (view: View, dimension: Dimension): readonly ValueKey[] =>
  dimension === 'industry' ? [...new Set(view.industries)] : [view[dimension]];

/** What counts for each value, found once for all caps. */
const byValue = <Item extends View>(views: readonly Item[]) => {
  const lanes = new Map<string, Item[]>();
  for (const view of views) {
    for (const dimension of DIMENSIONS) {
      for (const key of keysIn(view, dimension)) {
        if (key === NO_VALUE) continue;
        const name = `${dimension} ${key}`;
        const lane = lanes.get(name);
        if (lane === undefined) lanes.set(name, [view]);
        else lane.push(view);
      }
    }
  }
  return ({ cap, standing }: WeighedCap & { cap: { windowMs: number } }): readonly Item[] =>
    (lanes.get(`${cap.rule.dimension} ${cap.value.key}`) ?? []).filter(
      ({ at }) => at > standing.at - cap.windowMs && at <= standing.at,
    );
};

const createCapReports = ({ counted, reservations }: Facts) => {
  const countedIn = byValue(counted);
  const reservedIn = byValue(reservations);
  return (weighed: WeighedCap & { cap: { windowMs: number } }): CapReport => {
    const { cap, standing } = weighed;
    return {
      ruleId: cap.rule.id,
      dimension: cap.rule.dimension,
      value: cap.value.value,
      max: cap.max,
      windowMs: cap.windowMs,
      used: standing.used,
      reserved: standing.reserved,
      remaining: Math.max(0, standing.room),
      at: standing.at,
      impressions: countedIn(weighed).map(({ at, creativeId }) => ({ at, creativeId })),
      reservations: reservedIn(weighed).map(({ id, slot, at }) => ({ id, slot, breakAt: at })),
    };
  };
};

const distinct = (history: readonly Watched[]): Watched[] => {
  const ads = new Map<string, Watched>();
  for (const { creativeId, campaignId, brandId, industryIds } of history) {
    const name = JSON.stringify([creativeId, campaignId, brandId, industryIds]);
    if (!ads.has(name)) ads.set(name, { creativeId, campaignId, brandId, industryIds });
  }
  return [...ads.values()];
};

const hasWindow = (weighed: WeighedCap): weighed is WeighedCap & { cap: { windowMs: number } } =>
  weighed.cap.windowMs !== null;

/**
 * Every ad that the device has watched, with the fate of each rule that names one of its values; and every cap with a window that
 * applies to one of them, once for each value, in the order in which they were first met. There is no context to judge
 * `when` by: rules with one are told as not fitting.
 */
export const reportDevice = (
  rules: CompiledRules,
  history: readonly Watched[],
  { at, keyOf, ...facts }: Facts & { at: EpochMs; keyOf: KeyOf },
): { ads: AdReport[]; caps: CapReport[] } => {
  const known = { watched: createTimeline(facts.counted), reserved: createTimeline(facts.reservations) };
  const reportOf = createCapReports(facts);
  const caps = new Map<string, CapReport>();
  const ads = distinct(history).map((watched): AdReport => {
    const explanation = createExplanation();
    const ad = toAd({ ...watched, exempt: false }, keyOf);
    const { witness } = explanation;
    const evaluation = evaluateAd(rules, ad, { at, context: {}, known, witness });
    for (const weighed of evaluation.caps.filter(hasWindow)) {
      const name = JSON.stringify([weighed.cap.rule.id, weighed.cap.value.value]);
      if (!caps.has(name)) caps.set(name, reportOf(weighed));
    }
    const { allowed, remaining, nextAllowedAt } = evaluation;
    return {
      ...watched,
      allowed,
      remaining,
      ...(nextAllowedAt === undefined ? {} : { nextAllowedAt }),
      rules: explanation.lines(evaluation, undefined),
    };
  });
  return { ads, caps: [...caps.values()] };
};
