import { DIMENSIONS, type Dimension, type EpochMs } from '@adcap/contracts';
import { applies, type CompiledRule, type CompiledRules, capStanding, type Known } from '@adcap/rule-engine';
import type { KeyOf } from './to-ad.ts';

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

const valuesOf = (watched: Watched, dimension: Dimension): readonly string[] => {
  switch (dimension) {
    case 'creative':
      return [watched.creativeId];
    case 'campaign':
      return watched.campaignId === undefined ? [] : [watched.campaignId];
    case 'brand':
      return watched.brandId === undefined ? [] : [watched.brandId];
    case 'industry':
      return watched.industryIds;
  }
};

/** Every cap with a window that applies somewhere, against every value that the device has watched. */
export const reportCaps = (
  rules: CompiledRules,
  history: readonly Watched[],
  { at, known, keyOf }: { at: EpochMs; known: Known; keyOf: KeyOf },
): CapReport[] =>
  DIMENSIONS.flatMap((dimension) => {
    const seen = [...new Set(history.flatMap((watched) => valuesOf(watched, dimension)))];
    const report = (rule: CompiledRule, value: string): CapReport[] => {
      const { limit } = rule;
      if (
        limit.kind !== 'cap' ||
        limit.windowMs === null ||
        rule.shadow ||
        !applies(rule, { at, context: {} })
      )
        return [];
      const cap = { rule, value: { value, key: keyOf(value) }, max: limit.max, windowMs: limit.windowMs };
      const { used, reserved, room, at: decidesAt } = capStanding(cap, known, at);
      return [
        {
          ruleId: rule.id,
          dimension,
          value,
          max: limit.max,
          windowMs: limit.windowMs,
          used,
          reserved,
          remaining: Math.max(0, room),
          at: decidesAt,
        },
      ];
    };
    if (!rules.isOn[dimension]) return [];
    return seen.flatMap((value) => {
      const specific = (rules.specific[dimension].get(value) ?? []).flatMap((rule) => report(rule, value));
      return specific.length > 0 ? specific : rules.generic[dimension].flatMap((rule) => report(rule, value));
    });
  });
