import type { Dimension, EpochMs } from '@adcap/contracts';
import { type Cap, type CompiledRules, capStanding, type Known, resolveLadder } from '@adcap/rule-engine';
import { type KeyOf, toAd } from './to-ad.ts';

/** The readable values of an impression. */
export type Watched = {
  creativeId: string;
  campaignId?: string | undefined;
  brandId?: string | undefined;
  industryIds: readonly string[];
};

/** Where one cap stands for one value at an instant. */
export type CapReport = {
  ruleId: string;
  dimension: Dimension;
  value: string;
  max: number;
  windowMs: number;
  used: number;
  reserved: number;
  remaining: number;
  at: number;
};

const reportOf = (cap: Cap & { windowMs: number }, known: Known, at: EpochMs): CapReport => {
  const { used, reserved, room, at: decidesAt } = capStanding(cap, known, at);
  return {
    ruleId: cap.rule.id,
    dimension: cap.rule.dimension,
    value: cap.value.value,
    max: cap.max,
    windowMs: cap.windowMs,
    used,
    reserved,
    remaining: Math.max(0, room),
    at: decidesAt,
  };
};

/**
 * Every cap with a window that would apply to one of the ads that the device has watched, once for each value, in the
 * order in which they were first met. Rules with `when` are left out: there is no context to judge them by.
 */
export const reportCaps = (
  rules: CompiledRules,
  history: readonly Watched[],
  { at, known, keyOf }: { at: EpochMs; known: Known; keyOf: KeyOf },
): CapReport[] => {
  const reports = new Map<string, CapReport>();
  for (const watched of history) {
    const ad = toAd({ ...watched, exempt: false }, keyOf);
    for (const cap of resolveLadder(rules, ad, { at, context: {} }).caps) {
      const name = JSON.stringify([cap.rule.id, cap.value.value]);
      const { windowMs } = cap;
      if (windowMs === null || reports.has(name)) continue;
      reports.set(name, reportOf({ ...cap, windowMs }, known, at));
    }
  }
  return [...reports.values()];
};
