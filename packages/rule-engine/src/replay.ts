import type { Context, EpochMs } from '@adcap/contracts';
import type { Ad } from './ad.ts';
import type { CompiledRule, CompiledRules } from './compile-rules.ts';
import { type Evaluation, evaluateAd } from './evaluate-ad.ts';
import { createGrowingTimeline, createTimeline } from './timeline.ts';
import { countedAs } from './view.ts';

/** An ad that was watched at an instant. */
export type Watched = { ad: Ad; at: EpochMs };

/**
 * One device's past under other rules, lived through in the order of time. It is lived as it would have been: an impression
 * that the rules block was not watched, and counts for no later one. (What would have been shown in its place is not
 * known, and counts nowhere.)
 */
export type Replay = {
  /** Asks for an ad at the instant at which it was watched and, where it is allowed, counts it. The rule that blocks it. */
  watch(watched: Watched): CompiledRule | undefined;
  /** Asks for an ad and counts nothing. */
  evaluate(ad: Ad, at: EpochMs): Evaluation;
};

const NOTHING_RESERVED = createTimeline([]);
/** A history tells no context: rules with a `when` apply nowhere in it. */
const NO_CONTEXT: Context = {};

/**
 * Begins a device's past. Instants must not go back; of two impressions in one millisecond the one that comes first
 * counts for the other (law 1). No pod is known, so a `pod` window blocks nothing.
 */
export const createReplay = (rules: CompiledRules): Replay => {
  const watched = createGrowingTimeline();
  const known = { watched, reserved: NOTHING_RESERVED };
  const evaluate = (ad: Ad, at: EpochMs): Evaluation =>
    evaluateAd(rules, ad, { at, context: NO_CONTEXT, known, isNextWanted: false });
  return {
    evaluate,
    watch: (view) => {
      const { allowed, block, binding } = evaluate(view.ad, view.at);
      if (!allowed) return (block ?? binding?.cap)?.rule;
      watched.add({ ...countedAs(view.ad), at: view.at });
      return undefined;
    },
  };
};
