import type { CandidateAnswer, DegradedReason, Source } from '@adcap/contracts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Around the 10 ms deadline in steps that show where the time goes. */
const DURATION_BUCKETS_SECONDS = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.0125, 0.02, 0.05, 0.1];

export type AdSelectionMetrics = ReturnType<typeof createMetrics>;

export const createMetrics = (registry: Registry, inFlight: () => number) => {
  const registers = [registry];
  const decisions = new Counter({
    name: 'adcap_ad_selection_decisions_total',
    help: 'Decisions by what they were read from; open ones were not checked against any cap',
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
    help: 'Candidates by what became of them',
    labelNames: ['outcome'],
    registers,
  });
  const blocked = new Counter({
    name: 'adcap_ad_selection_blocked_total',
    help: 'Candidates that a rule blocked, by rule',
    labelNames: ['rule'],
    registers,
  });
  const shadowBlocked = new Counter({
    name: 'adcap_ad_selection_shadow_blocked_total',
    help: 'Candidates that a shadow rule would have blocked, by rule',
    labelNames: ['rule'],
    registers,
  });
  const unfilled = new Counter({
    name: 'adcap_ad_selection_unfilled_slots_total',
    help: 'Slots that stayed empty',
    registers,
  });
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
    decided: (of: {
      source: Source;
      reason: DegradedReason | undefined;
      candidates: readonly CandidateAnswer[];
      unfilled: number;
      shadow: readonly string[];
    }): void => {
      decisions.inc({ source: of.source });
      if (of.reason !== undefined) degraded.inc({ reason: of.reason });
      if (of.unfilled > 0) unfilled.inc(of.unfilled);
      for (const { outcome, blockedBy } of of.candidates) {
        candidates.inc({ outcome });
        if (blockedBy !== undefined) blocked.inc({ rule: blockedBy.ruleId });
      }
      for (const rule of of.shadow) shadowBlocked.inc({ rule });
    },
  };
};
