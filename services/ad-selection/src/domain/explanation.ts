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

const isSame = (one: Bound, other: Bound): boolean =>
  one.rule === other.rule && one.value.value === other.value.value;

const addCounts = (line: ExplanationLine, weighed: WeighedCap, known: Known | undefined): void => {
  const { cap, standing } = weighed;
  line['max'] = cap.max;
  line['windowMs'] = cap.windowMs;
  line['used'] = standing.used;
  line['reserved'] = standing.reserved;
  line['remaining'] = Math.max(0, standing.room);
  line['at'] = standing.at;
  if (known !== undefined) line['impressions'] = countedBy(weighed, known);
};

const lineOf = (
  { bound, fate, because }: Note,
  evaluation: Evaluation,
  known: Known | undefined,
): ExplanationLine => {
  const { rule, value } = bound;
  const line: ExplanationLine = {
    ruleId: rule.id,
    rung: RUNGS[rule.value === undefined ? 'generic' : 'specific'][rule.dimension],
    value: value.value,
    limit: rule.limit.kind,
    fate,
  };
  if (because !== undefined) line['because'] = because.id;
  const weighed = fate === 'applies' ? evaluation.caps.find(({ cap }) => isSame(cap, bound)) : undefined;
  if (weighed !== undefined) addCounts(line, weighed, known);
  if (fate === 'shadow')
    line['wouldBlock'] = evaluation.shadowBlocked.some((blocked) => isSame(blocked, bound));
  return line;
};

/** Listens to a walk down the ladder and says afterwards what it heard. */
export const createExplanation = (): {
  witness: Witness;
  lines(evaluation: Evaluation, known: Known | undefined): ExplanationLine[];
} => {
  const notes: Note[] = [];
  return {
    witness: (bound, fate, because) => void notes.push({ bound, fate, because }),
    lines: (evaluation, known) => notes.map((note) => lineOf(note, evaluation, known)),
  };
};
