import {
  AppError,
  type CandidateAnswer,
  type DegradedReason,
  type EpochMs,
  type SelectionAnswer,
  type Source,
} from '@adcap/contracts';
import type { Ask } from './ask.ts';
import type { Decision } from './decide.ts';
import { whyContended } from './empty-slots.ts';
import type { Judged } from './evaluate-entries.ts';
import { withoutCounts } from './without-counts.ts';

/** An answer with what metrics want to know beside it. */
export type Selection = {
  answer: SelectionAnswer;
  /** What was judged for it; nothing where it was answered again. */
  judged: readonly Judged[];
  isRepeat: boolean;
};

/** What an answer says about itself. */
export type Told = {
  source: Source;
  reserved: boolean;
  reason: DegradedReason | undefined;
  rulesVersion: number | null;
  /** Up to when the device's impressions had been applied; null where nothing was counted. */
  asOf: EpochMs | null;
  serverTime: EpochMs;
};

const judgedFor = (decision: Decision): readonly Judged[] =>
  decision.kind === 'decided' ? decision.judged : [];

/** The whole answer around a decision; a refused one is thrown. */
export const tell = (ask: Ask, decision: Decision, told: Told): Selection => {
  if (decision.kind === 'refused') throw new AppError(decision.code, decision.detail);
  const { rulesVersion, source, candidates, pod, unfilled, emptySlots } =
    decision.kind === 'stored' ? decision.round : { ...told, ...decision.decided };
  return {
    answer: {
      breakId: ask.breakId,
      breakAt: ask.breakAt,
      serverTime: told.serverTime,
      source,
      degraded: told.reason !== undefined,
      ...(told.reason === undefined ? {} : { degradedReason: told.reason }),
      reserved: told.reserved,
      rulesVersion,
      asOf: told.asOf,
      candidates,
      pod,
      unfilled,
      ...(emptySlots === undefined ? {} : { emptySlots }),
    },
    judged: judgedFor(decision),
    isRepeat: decision.kind === 'stored',
  };
};

const mapCandidates = (
  selection: Selection,
  change: (candidates: readonly CandidateAnswer[]) => CandidateAnswer[],
): Selection => ({
  ...selection,
  answer: { ...selection.answer, candidates: change(selection.answer.candidates) },
});

/** An answer from which nothing was counted: BLOCK and what one pod may hold, and no other number. */
export const tellBlind = (ask: Ask, decision: Decision, told: Omit<Told, 'reserved'>): Selection => {
  const judged = judgedFor(decision);
  return mapCandidates(tell(ask, decision, { ...told, reserved: false }), (candidates) =>
    withoutCounts(candidates, judged),
  );
};

/** An answer about quotas where slots were asked for and none may be promised. */
export const tellEmpty = (ask: Ask, quotas: Decision, told: Omit<Told, 'reserved'>): Selection => {
  const selection = mapCandidates(tell(ask, quotas, { ...told, reserved: false }), (candidates) =>
    candidates.map((one) => (one.allowed ? { ...one, outcome: 'noSlot' as const } : one)),
  );
  const emptied = { unfilled: ask.slots.length, ...whyContended(ask, selection.judged) };
  return { ...selection, answer: { ...selection.answer, ...emptied } };
};
