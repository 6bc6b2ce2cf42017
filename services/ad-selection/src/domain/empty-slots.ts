import { EMPTY_SLOT_REASONS, type EmptySlot, type EmptySlotReason, LIMITS } from '@adcap/contracts';
import type { Evaluation, Fate } from '@adcap/rule-engine';
import type { Ask } from './ask.ts';
import type { Judged } from './evaluate-entries.ts';

type Reason = EmptySlot['reasons'][number];
/** What kept one entry out of the pod. */
type Cause = { reason: EmptySlotReason; ruleId?: string | undefined };

const rank = (reason: EmptySlotReason): number => EMPTY_SLOT_REASONS.indexOf(reason);

const NOBODY: readonly Reason[] = [{ reason: 'noCandidates', candidates: 0 }];

const cappedBy = ({ block, binding }: Evaluation): Cause => ({
  reason: 'capped',
  ruleId: (block ?? binding?.cap)?.rule.id,
});

const causeOf = (evaluation: Evaluation, fate: Fate | undefined): Cause | undefined => {
  if (fate?.kind === 'capped') return cappedBy(evaluation);
  if (fate?.kind === 'podCapped') return { reason: 'podCapped', ruleId: fate.by.cap.rule.id };
  // One that came when every slot was taken is the reason of none that is empty.
  return fate?.kind === 'noSlot' && fate.why === 'tooLong' ? { reason: 'tooLong' } : undefined;
};

/** One reason a rule, the most candidates first. */
const tally = (causes: readonly Cause[]): readonly Reason[] => {
  if (causes.length === 0) return NOBODY;
  const reasons = new Map<string, Reason>();
  for (const { reason, ruleId } of causes) {
    const name = `${reason} ${ruleId ?? ''}`;
    const known = reasons.get(name);
    if (known !== undefined) known.candidates += 1;
    else reasons.set(name, { reason, ...(ruleId === undefined ? {} : { ruleId }), candidates: 1 });
  }
  return [...reasons.values()]
    .toSorted((a, b) => b.candidates - a.candidates || rank(a.reason) - rank(b.reason))
    .slice(0, LIMITS.emptySlotReasons);
};

/** The causes by the entry that they kept out. */
const causesOf = (
  { entries }: Pick<Ask, 'entries'>,
  judged: readonly Judged[],
  causeAt: (position: number, one: Judged) => Cause | undefined,
): Map<number, Cause> => {
  const causes = new Map<number, Cause>();
  for (const { kind, index } of entries) if (kind === 'invalid') causes.set(index, { reason: 'invalid' });
  for (const [position, one] of judged.entries()) {
    const cause = causeAt(position, one);
    if (cause !== undefined) causes.set(one.entry.index, cause);
  }
  return causes;
};

/**
 * Whatever kept a candidate out of the pod kept it out of every slot that stayed empty; where the caller chose the places
 * itself, out of its own. More empty slots than candidates left over: no rule emptied the last ones.
 */
const emptySlots = (
  { isFixed }: Pick<Ask, 'isFixed'>,
  empty: readonly number[],
  causes: ReadonlyMap<number, Cause>,
): EmptySlot[] => {
  if (isFixed) {
    return empty.map((slot) => {
      const cause = causes.get(slot - 1);
      return { slot, reasons: [...tally(cause === undefined ? [] : [cause])] };
    });
  }
  const shared = tally([...causes.values()]);
  return empty.map((slot, position) => ({
    slot,
    reasons: [...(position < causes.size ? shared : NOBODY)],
  }));
};

const emptyAmong = (slots: number, places: readonly { slot: number }[]): number[] => {
  const taken = new Set(places.map(({ slot }) => slot));
  return Array.from({ length: slots }, (_, index) => index + 1).filter((slot) => !taken.has(slot));
};

/** Why slots stayed empty, in the form of an answer: no field where none did. */
export type ToldEmpty = { emptySlots?: EmptySlot[] };

/**
 * Why the slots of a pod stayed empty.
 *
 * @param pod how many slots there are, and which places are taken, those of earlier rounds among them
 * @param fates what the pod made of what was judged, in its order
 */
export const whyEmpty = (
  ask: Ask,
  pod: { slots: number; places: readonly { slot: number }[] },
  { judged, fates }: { judged: readonly Judged[]; fates: readonly (Fate | undefined)[] },
): ToldEmpty => {
  const empty = emptyAmong(pod.slots, pod.places);
  if (empty.length === 0) return {};
  const causes = causesOf(ask, judged, (position, { evaluation }) => causeOf(evaluation, fates[position]));
  return { emptySlots: emptySlots(ask, empty, causes) };
};

/** Why all slots stay empty where no place could be promised: other processes were faster with whatever may be shown. */
export const whyContended = (ask: Ask, judged: readonly Judged[]): ToldEmpty => {
  if (ask.slots.length === 0) return {};
  const causes = causesOf(ask, judged, (_, { evaluation }) =>
    evaluation.allowed ? { reason: 'contended' } : cappedBy(evaluation),
  );
  return { emptySlots: emptySlots(ask, emptyAmong(ask.slots.length, []), causes) };
};
