import type { CandidateAnswer } from '@adcap/contracts';
import {
  createTimeline,
  type Evaluation,
  evaluateAd,
  type Fate,
  fillPod,
  type Known,
  type Pod,
  toAd,
} from '@adcap/rule-engine';
import type { Ask, Knowledge, Setting } from './ask.ts';
import { candidateAnswer, invalidAnswer } from './candidate-answer.ts';
import { createExplanation } from './explanation.ts';
import type { AdFacts, Entry } from './to-entries.ts';

type AdEntry = Extract<Entry, { kind: 'ad' }>;
/** An entry with what may become of it; `explain` only where it was asked for. */
export type Judged = { entry: AdEntry; evaluation: Evaluation; explain: CandidateAnswer['explain'] };

const isAdEntry = (entry: Entry): entry is AdEntry => entry.kind === 'ad';

/** What counts against an ask: everything watched, and what other breaks were promised. */
export const knownTo = (
  breakKey: string,
  { views, reservations }: Pick<Knowledge, 'views' | 'reservations'>,
): Known => ({
  watched: createTimeline(views),
  reserved: createTimeline(reservations.filter((reservation) => reservation.breakKey !== breakKey)),
});

/** Judges each valid candidate at the break's instant, before any grant of this pod. */
export const judgeEntries = (ask: Ask, known: Known, { rules }: Pick<Setting, 'rules'>): Judged[] =>
  ask.entries.filter(isAdEntry).map((entry) => {
    const circumstances = { at: ask.breakAt, context: ask.context, known };
    if (ask.explain === 'nothing')
      return { entry, evaluation: evaluateAd(rules, entry.ad, circumstances), explain: undefined };
    const explanation = createExplanation();
    const evaluation = evaluateAd(rules, entry.ad, { ...circumstances, witness: explanation.witness });
    return {
      entry,
      evaluation,
      explain: explanation.lines(evaluation, ask.explain === 'impressions' ? known : undefined),
    };
  });

/** Judges an ad that has a place already. */
export const judgePlaced = (
  facts: AdFacts,
  ask: Ask,
  { rules, keyOf, known }: Pick<Setting, 'rules' | 'keyOf'> & { known: Known },
): Evaluation => evaluateAd(rules, toAd(facts, keyOf), { at: ask.breakAt, context: ask.context, known });

/** Fills a pod with what was judged; one fate for each, in order. */
export const fateOf = (judged: readonly Judged[], ask: Ask, kept: Pod['kept']): Fate[] =>
  fillPod(
    judged.map(({ evaluation }) => evaluation),
    {
      slots: ask.slots,
      podDurationMs: ask.podDurationMs,
      kept,
      fixedSlots: ask.isFixed ? judged.map(({ entry }) => entry.index + 1) : undefined,
    },
  );

/** The answers of all entries, the invalid ones in their places. */
export const answersOf = (
  ask: Ask,
  judged: readonly Judged[],
  fates: readonly (Fate | undefined)[],
): CandidateAnswer[] => {
  const byIndex = new Map(
    judged.map(({ entry, evaluation, explain }, position) => {
      const answer = candidateAnswer(entry, evaluation, { fate: fates[position], at: ask.breakAt });
      return [entry.index, explain === undefined ? answer : { ...answer, explain }] as const;
    }),
  );
  return ask.entries.flatMap((entry) =>
    isAdEntry(entry) ? (byIndex.get(entry.index) ?? []) : invalidAnswer(entry),
  );
};
