import { type Context, type EpochMs, NO_VALUE, type RuleSet } from '@adcap/contracts';
import {
  type AdNames,
  type Bound,
  compileRules,
  createLadderNotes,
  type LadderLine,
  type LadderNote,
  ladderLine,
  resolveLadder,
  toAd,
} from '@adcap/rule-engine';

/** A rule on an ad's ladder, with what it allows where it is a cap. */
type EffectiveLine = Omit<LadderLine, 'fate'> & {
  fate: LadderLine['fate'] | 'hidden';
  max?: number;
  windowMs?: number | null;
  final?: boolean;
};

export type EffectiveLadder = {
  /** The BLOCK that means never, whatever else applies. */
  blockedBy: string | null;
  /** The caps that apply, in the order in which ties are decided; none under a BLOCK. */
  caps: { ruleId: string; value: string }[];
  rules: EffectiveLine[];
};

const lineOf = (note: LadderNote, block: Bound | undefined): EffectiveLine => {
  const { limit, final } = note.bound.rule;
  const isHidden = block !== undefined && note.fate === 'applies' && limit.kind !== 'block';
  return {
    ...ladderLine(note),
    ...(isHidden ? { fate: 'hidden', because: block.rule.id } : {}),
    ...(limit.kind === 'cap' ? { max: limit.max, windowMs: limit.windowMs } : {}),
    ...(final ? { final } : {}),
  };
};

/** Law 3 for an ad that nobody has seen yet: which rules apply, and what became of the others. */
export const effectiveLadder = (
  rules: RuleSet,
  names: AdNames,
  circumstances: { at: EpochMs; context: Context },
): EffectiveLadder => {
  const { witness, notes } = createLadderNotes();
  // Nothing is counted, so no value needs its key.
  const ad = toAd({ ...names, exempt: false }, () => NO_VALUE);
  const { block, caps } = resolveLadder(compileRules(rules), ad, { ...circumstances, witness });
  return {
    blockedBy: block?.rule.id ?? null,
    caps: (block === undefined ? caps : []).map(({ rule, value }) => ({
      ruleId: rule.id,
      value: value.value,
    })),
    rules: notes.map((note) => lineOf(note, block)),
  };
};
