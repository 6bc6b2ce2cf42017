import type { EpochMs } from '@adcap/contracts';
import type {
  Bound,
  CompiledRule,
  Evaluation,
  Known,
  RuleFate,
  WeighedCap,
  Witness,
} from '@adcap/rule-engine';

/** One rule that was considered: its fate, what replaced or ended it, and the counts of a cap that applies. */
export type ExplanationLine = Record<string, unknown>;

/** When the impressions in a cap's window were watched. */
const countedBy = ({ cap, standing }: WeighedCap, known: Known): EpochMs[] =>
  known.watched
    .instantsOf(cap.rule.dimension, cap.value.key)
    .filter((at) => at > standing.at - (cap.windowMs ?? 0) && at <= standing.at);

type Note = { bound: Bound; fate: RuleFate; because: CompiledRule | undefined };

/** Listens to a walk down the ladder and says afterwards what it heard. */
export const createExplanation = (): {
  witness: Witness;
  lines(evaluation: Evaluation, known: Known | undefined): ExplanationLine[];
} => {
  const notes: Note[] = [];
  return {
    witness: (bound, fate, because) => void notes.push({ bound, fate, because }),
    lines: (evaluation, known) =>
      notes.map(({ bound, fate, because }) => {
        const weighed =
          fate === 'applies'
            ? evaluation.caps.find(
                ({ cap }) => cap.rule === bound.rule && cap.value.value === bound.value.value,
              )
            : undefined;
        return {
          ruleId: bound.rule.id,
          rung: `${bound.rule.value === undefined ? 'generic' : 'specific'} ${bound.rule.dimension}`,
          value: bound.value.value,
          limit: bound.rule.limit.kind,
          fate,
          ...(because === undefined ? {} : { because: because.id }),
          ...(weighed === undefined
            ? {}
            : {
                max: weighed.cap.max,
                windowMs: weighed.cap.windowMs,
                used: weighed.standing.used,
                reserved: weighed.standing.reserved,
                remaining: Math.max(0, weighed.standing.room),
                at: weighed.standing.at,
                ...(known === undefined ? {} : { impressions: countedBy(weighed, known) }),
              }),
          ...(fate === 'shadow'
            ? {
                wouldBlock: evaluation.shadowBlocked.some(
                  ({ rule, value }) => rule === bound.rule && value.value === bound.value.value,
                ),
              }
            : {}),
        };
      }),
  };
};
