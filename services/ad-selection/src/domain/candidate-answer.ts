import type { BlockedBy, CandidateAnswer, EpochMs } from '@adcap/contracts';
import type { Bound, Evaluation, Fate, WeighedCap } from '@adcap/rule-engine';
import type { Entry } from './to-entries.ts';

const blockedByRule = ({ rule, value }: Bound): BlockedBy => ({
  ruleId: rule.id,
  dimension: rule.dimension,
  value: value.value,
});

/** The cap that blocks, with the figures of the instant that decides; named where that is not the break's. */
const blockedByCap = ({ cap, standing }: WeighedCap, at: EpochMs, granted: number): BlockedBy => ({
  ...blockedByRule(cap),
  max: cap.max,
  windowMs: cap.windowMs,
  used: standing.used,
  reserved: standing.reserved + granted,
  ...(standing.at === at ? {} : { at: standing.at }),
});

const outcomeOf = (evaluation: Evaluation, fate: Fate | undefined): CandidateAnswer['outcome'] => {
  if (fate !== undefined) return fate.kind;
  if (!evaluation.allowed) return 'capped';
  return evaluation.ad.exempt ? 'exempt' : 'allowed';
};

const blockedBy = (evaluation: Evaluation, fate: Fate | undefined, at: EpochMs): BlockedBy | undefined => {
  if (evaluation.block !== undefined) return blockedByRule(evaluation.block);
  if (!evaluation.allowed && evaluation.binding !== undefined) return blockedByCap(evaluation.binding, at, 0);
  return fate?.kind === 'podCapped' ? blockedByCap(fate.by, at, fate.granted) : undefined;
};

export const invalidAnswer = (entry: Extract<Entry, { kind: 'invalid' }>): CandidateAnswer => ({
  index: entry.index,
  creativeId: entry.creativeId,
  outcome: 'invalid',
  allowed: false,
  remaining: null,
  error: entry.error,
});

/**
 * What the caller is told about one candidate. `allowed` and `remaining` are from before this pod's own grants; the
 * `reserved` of a cap that the pod itself filled counts them.
 *
 * @param fate what the pod made of it; none where no pod was filled
 */
export const candidateAnswer = (
  entry: Extract<Entry, { kind: 'ad' }>,
  evaluation: Evaluation,
  { fate, at }: { fate: Fate | undefined; at: EpochMs },
): CandidateAnswer => {
  const by = blockedBy(evaluation, fate, at);
  return {
    index: entry.index,
    creativeId: entry.candidate.creativeId,
    outcome: outcomeOf(evaluation, fate),
    allowed: evaluation.allowed,
    remaining: evaluation.remaining,
    ...(by === undefined ? {} : { blockedBy: by }),
    ...(evaluation.nextAllowedAt === undefined ? {} : { nextAllowedAt: evaluation.nextAllowedAt }),
  };
};
