import type { CandidateAnswer } from '@adcap/contracts';
import type { Bound, WeighedCap } from '@adcap/rule-engine';
import type { Judged } from './evaluate-entries.ts';

/** Candidates by what one rule did to them. */
export type RuleCounts = {
  /** It was weighed: a cap or BLOCK that applied, a shadow rule that was looked at. */
  evaluated: number;
  /** Exactly one more view would fit, and something counts already. */
  near: number;
  /** It is the one that the answer names as blocking. */
  blocked: number;
  /** It would have blocked, were it enforced. */
  shadowBlocked: number;
};

/** A rule may meet several industries of a candidate, and counts that candidate once. */
type Tally = RuleCounts & { lastEvaluated: number; lastNear: number; lastShadowBlocked: number };

const NOBODY = -1;

const isOfPod = ({ rule }: Bound): boolean => rule.limit.kind !== 'cap' || rule.limit.windowMs === null;

const isNear = ({ standing }: WeighedCap): boolean =>
  standing.room === 1 && standing.used + standing.reserved > 0;

class Tallies {
  readonly byRule = new Map<string, Tally>();

  of(ruleId: string): Tally {
    const known = this.byRule.get(ruleId);
    if (known !== undefined) return known;
    const counts = { evaluated: 0, near: 0, blocked: 0, shadowBlocked: 0 };
    const tally = { ...counts, lastEvaluated: NOBODY, lastNear: NOBODY, lastShadowBlocked: NOBODY };
    this.byRule.set(ruleId, tally);
    return tally;
  }

  evaluated({ rule }: Bound, candidate: number): Tally {
    const tally = this.of(rule.id);
    if (tally.lastEvaluated !== candidate) tally.evaluated += 1;
    tally.lastEvaluated = candidate;
    return tally;
  }

  weighed(weighed: WeighedCap, candidate: number): void {
    const tally = this.evaluated(weighed.cap, candidate);
    if (!isNear(weighed)) return;
    if (tally.lastNear !== candidate) tally.near += 1;
    tally.lastNear = candidate;
  }

  shadowBlocked({ rule }: Bound, candidate: number): void {
    const tally = this.of(rule.id);
    if (tally.lastShadowBlocked !== candidate) tally.shadowBlocked += 1;
    tally.lastShadowBlocked = candidate;
  }
}

/**
 * What each rule did in one decision, in one pass and with one object a rule: a decision weighs some eighty caps.
 *
 * @param isBlind nothing was read: a rule with a window was weighed against nothing, and is not counted
 */
export const countByRule = (
  judged: readonly Judged[],
  answers: readonly CandidateAnswer[],
  isBlind: boolean,
): ReadonlyMap<string, RuleCounts> => {
  const tallies = new Tallies();
  for (const { entry, evaluation } of judged) {
    const { index } = entry;
    if (evaluation.block !== undefined) tallies.evaluated(evaluation.block, index);
    for (const weighed of evaluation.caps)
      if (!isBlind || isOfPod(weighed.cap)) tallies.weighed(weighed, index);
    for (const bound of evaluation.shadow) if (!isBlind || isOfPod(bound)) tallies.evaluated(bound, index);
    for (const bound of evaluation.shadowBlocked) tallies.shadowBlocked(bound, index);
  }
  for (const { blockedBy } of answers) if (blockedBy !== undefined) tallies.of(blockedBy.ruleId).blocked += 1;
  return tallies.byRule;
};
