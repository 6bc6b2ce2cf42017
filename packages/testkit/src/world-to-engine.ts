import { epochMs, NO_VALUE, type ValueKey } from '@adcap/contracts';
import {
  type Ad,
  type CompiledRules,
  createTimeline,
  type Evaluation,
  evaluateAd,
  fillPod,
  type Pod,
  type View,
} from '@adcap/rule-engine';
import type { OracleAd, OracleAnswer, OracleView, OracleWorld } from './naive-oracle.ts';

export type KeyOf = (value: string) => ValueKey;

/** An oracle's ad in the form that the engine takes. */
export const toEngineAd = (ad: OracleAd, keyOf: KeyOf): Ad => {
  const bound = (value: string) => ({ value, key: keyOf(value) });
  return {
    creative: bound(ad.creative),
    campaign: ad.campaign === undefined ? undefined : bound(ad.campaign),
    brand: ad.brand === undefined ? undefined : bound(ad.brand),
    industries: ad.industries.map(bound),
    exempt: ad.exempt ?? false,
    durationMs: ad.durationMs,
  };
};

/** An oracle's impression or reservation in the form that the engine counts. */
export const toEngineView = (view: OracleView, keyOf: KeyOf): View => ({
  at: epochMs(view.at),
  creative: keyOf(view.creative),
  campaign: view.campaign === undefined ? NO_VALUE : keyOf(view.campaign),
  brand: view.brand === undefined ? NO_VALUE : keyOf(view.brand),
  industries: view.industries.map(keyOf),
});

/** What the engine says, in the oracle's words. */
export const asOracleAnswer = (evaluation: Evaluation): OracleAnswer => ({
  allowed: evaluation.allowed,
  remaining: evaluation.remaining,
  ruleId: evaluation.block === undefined ? evaluation.binding?.cap.rule.id : undefined,
  decidesAt: evaluation.block === undefined ? evaluation.binding?.standing.at : undefined,
  nextAllowedAt: evaluation.nextAllowedAt,
});

/** Asks the engine what the oracle was asked. */
export const askEngine = (
  rules: CompiledRules,
  world: Pick<OracleWorld, 'context'> & { watched: readonly View[]; reserved: readonly View[] },
  question: { ads: readonly Ad[]; at: number; slots: number | Pod['slots'] } & Partial<
    Pick<Pod, 'podDurationMs' | 'kept'>
  >,
): { answers: OracleAnswer[]; pod: (number | undefined)[] } => {
  const known = { watched: createTimeline(world.watched), reserved: createTimeline(world.reserved) };
  const evaluations = question.ads.map((ad) =>
    evaluateAd(rules, ad, { at: epochMs(question.at), context: world.context, known }),
  );
  const { slots, podDurationMs, kept = [] } = question;
  const pod = typeof slots === 'number' ? Array.from({ length: slots }, () => ({})) : slots;
  const fates = fillPod(evaluations, { slots: pod, podDurationMs, kept });
  return {
    answers: evaluations.map(asOracleAnswer),
    pod: fates.map((fate) => (fate.kind === 'placed' ? fate.slot : undefined)),
  };
};
