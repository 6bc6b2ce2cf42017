import type { EpochMs } from '@adcap/contracts';
import {
  type Bound,
  createLadderNotes,
  type Evaluation,
  type Known,
  type LadderNote,
  ladderLine,
  type WeighedCap,
  type Witness,
} from '@adcap/rule-engine';

/** One rule that was considered: its fate, what replaced or ended it, and the counts of a cap that applies. */
export type ExplanationLine = Record<string, unknown>;

/** When the impressions in a cap's window were watched. */
const countedBy = ({ cap, standing }: WeighedCap, known: Known): EpochMs[] =>
  known.watched
    .instantsOf(cap.rule.dimension, cap.value.key)
    .filter((at) => at > standing.at - (cap.windowMs ?? 0) && at <= standing.at);

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

const lineOf = (note: LadderNote, evaluation: Evaluation, known: Known | undefined): ExplanationLine => {
  const { bound, fate } = note;
  const line: ExplanationLine = ladderLine(note);
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
  const { witness, notes } = createLadderNotes();
  return {
    witness,
    lines: (evaluation, known) => notes.map((note) => lineOf(note, evaluation, known)),
  };
};
