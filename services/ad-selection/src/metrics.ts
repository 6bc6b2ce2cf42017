import type { CompiledRules } from '@adcap/rule-engine';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { countByRule } from './domain/rule-counts.ts';
import type { Selection } from './domain/tell.ts';
import { createRuleMetrics } from './rule-metrics.ts';

/** Around the 10 ms deadline in steps that show where the time goes. */
const DURATION_BUCKETS_SECONDS = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.0125, 0.02, 0.05, 0.1];

export type AdSelectionMetrics = ReturnType<typeof createMetrics>;

/** How often each is there. */
const occurrences = <Label extends string>(labels: readonly Label[]): Map<Label, number> => {
  const counts = new Map<Label, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return counts;
};

export const createMetrics = (
  registry: Registry,
  { inFlight, rules }: { inFlight: () => number; rules: () => CompiledRules | undefined },
) => {
  const registers = [registry];
  const decisions = new Counter({
    name: 'adcap_ad_selection_decisions_total',
    help: 'Answers by what they were read from, repeated ones among them; open ones were not checked against any cap',
    labelNames: ['source'],
    registers,
  });
  const degraded = new Counter({
    name: 'adcap_ad_selection_degraded_total',
    help: 'Decisions that were answered with less than everything known, by reason',
    labelNames: ['reason'],
    registers,
  });
  const duration = new Histogram({
    name: 'adcap_ad_selection_decision_duration_seconds',
    help: 'From a decision’s turn to its answer',
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const candidates = new Counter({
    name: 'adcap_ad_selection_candidates_total',
    help: 'Candidates by what became of them; those of a repeated answer are not counted again',
    labelNames: ['outcome'],
    registers,
  });
  const exempt = new Counter({
    name: 'adcap_ad_selection_exempt_candidates_total',
    help: 'Candidates that were marked exempt, whatever became of them; a share of the candidates',
    registers,
  });
  const unfilled = new Counter({
    name: 'adcap_ad_selection_unfilled_slots_total',
    help: 'Slots that stayed empty, by what kept out the most candidates; those of a repeated answer are not counted again',
    labelNames: ['reason'],
    registers,
  });
  const addToRules = createRuleMetrics(registry, rules);
  const conflicts = new Counter({
    name: 'adcap_ad_selection_commit_conflicts_total',
    help: 'Commits that another process had overtaken',
    registers,
  });
  const undone = new Counter({
    name: 'adcap_ad_selection_late_commits_undone_total',
    help: 'Commits that succeeded after their decision was answered without them, and were taken back',
    registers,
  });
  const logDropped = new Counter({
    name: 'adcap_ad_selection_decision_records_dropped_total',
    help: 'Decision records that could not be published',
    registers,
  });
  const gauge: Gauge = new Gauge({
    name: 'adcap_ad_selection_in_flight',
    help: 'Decisions under way',
    registers,
    collect: () => gauge.set(inFlight()),
  });
  return {
    duration,
    conflicts,
    undone,
    logDropped,
    decided: ({ answer, judged, isRepeat }: Selection): void => {
      decisions.inc({ source: answer.source });
      if (answer.degradedReason !== undefined) degraded.inc({ reason: answer.degradedReason });
      // What a stored pod answers was counted when it was decided.
      if (isRepeat) return;
      const isBlind = answer.source === 'open' || answer.source === 'unidentified';
      addToRules(countByRule(judged, answer.candidates, isBlind));
      exempt.inc(judged.filter(({ entry }) => entry.candidate.exempt).length);
      for (const [outcome, count] of occurrences(answer.candidates.map((one) => one.outcome)))
        candidates.inc({ outcome }, count);
      const first = (answer.emptySlots ?? []).flatMap(({ reasons: [most] }) => most?.reason ?? []);
      for (const [reason, count] of occurrences(first)) unfilled.inc({ reason }, count);
    },
  };
};

/** What is followed beside the decisions. */
export const addSharedStateGauges = (
  registry: Registry,
  of: {
    asOfAgeSeconds: () => number;
    switches: () => readonly { name: string; on: boolean }[];
  },
): void => {
  const age: Gauge = new Gauge({
    name: 'adcap_ad_selection_as_of_age_seconds',
    help: 'How long ago the impressions of the partition that is furthest behind were received, up to which all are applied; NaN where it is not known',
    registers: [registry],
    collect: () => age.set(of.asOfAgeSeconds()),
  });
  const on = new Gauge({
    name: 'adcap_ad_selection_switch_on',
    help: 'Operator switches: 1 while on',
    labelNames: ['switch'] as const,
    registers: [registry],
    collect: () => {
      for (const one of of.switches()) on.set({ switch: one.name }, one.on ? 1 : 0);
    },
  });
};
