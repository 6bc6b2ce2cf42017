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
import { withoutCounts } from './without-counts.ts';

/** An answer with what metrics want to know beside it. */
export type Selection = { answer: SelectionAnswer; shadow: readonly string[] };

/** What an answer says about itself. */
export type Told = {
  source: Source;
  reserved: boolean;
  reason: DegradedReason | undefined;
  rulesVersion: number | null;
  serverTime: EpochMs;
};

const shadowOf = (decision: Decision): string[] =>
  decision.kind === 'decided'
    ? decision.judged.flatMap(({ evaluation }) => evaluation.shadowBlocked.map(({ rule }) => rule.id))
    : [];

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
      candidates,
      pod,
      unfilled,
      ...(emptySlots === undefined ? {} : { emptySlots }),
    },
    shadow: shadowOf(decision),
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
  const judged = decision.kind === 'decided' ? decision.judged : [];
  return mapCandidates(tell(ask, decision, { ...told, reserved: false }), (candidates) =>
    withoutCounts(candidates, judged),
  );
};

/** An answer about quotas where slots were asked for and none may be promised. */
export const tellEmpty = (ask: Ask, quotas: Decision, told: Omit<Told, 'reserved'>): Selection => {
  const selection = mapCandidates(tell(ask, quotas, { ...told, reserved: false }), (candidates) =>
    candidates.map((one) => (one.allowed ? { ...one, outcome: 'noSlot' as const } : one)),
  );
  const judged = quotas.kind === 'decided' ? quotas.judged : [];
  const emptied = { unfilled: ask.slots.length, ...whyContended(ask, judged) };
  return { ...selection, answer: { ...selection.answer, ...emptied } };
};
