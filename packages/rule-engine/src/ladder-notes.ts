import type { CompiledRule } from './compile-rules.ts';
import type { Bound, RuleFate, Witness } from './ladder.ts';

/** What became of one rule on the walk, and of which other rule. */
export type LadderNote = { bound: Bound; fate: RuleFate; because: CompiledRule | undefined };

/** One rule that was considered, as it is told: its rung, its fate, what replaced or ended it. */
export type LadderLine = {
  ruleId: string;
  rung: string;
  value: string;
  limit: CompiledRule['limit']['kind'];
  fate: RuleFate;
  because?: string;
};

const RUNGS = {
  generic: {
    creative: 'generic creative',
    campaign: 'generic campaign',
    brand: 'generic brand',
    industry: 'generic industry',
  },
  specific: {
    creative: 'specific creative',
    campaign: 'specific campaign',
    brand: 'specific brand',
    industry: 'specific industry',
  },
} as const;

/** Listens to a walk down the ladder; its notes are in the order of the rungs. */
export const createLadderNotes = (): { witness: Witness; notes: readonly LadderNote[] } => {
  const notes: LadderNote[] = [];
  return { witness: (bound, fate, because) => void notes.push({ bound, fate, because }), notes };
};

export const ladderLine = ({ bound: { rule, value }, fate, because }: LadderNote): LadderLine => {
  const line: LadderLine = {
    ruleId: rule.id,
    rung: RUNGS[rule.value === undefined ? 'generic' : 'specific'][rule.dimension],
    value: value.value,
    limit: rule.limit.kind,
    fate,
  };
  if (because !== undefined) line.because = because.id;
  return line;
};
