import { Counter, Registry } from 'prom-client';
import { createMetrics } from '../src/metrics.ts';
import { decisionOf, microseconds, RULES, say } from './decisions.ts';

/*
 * What counting a decision costs, all its metrics together, beside a labelled increment for each cap of each candidate.
 */

const registry = new Registry();
const metrics = createMetrics(registry, { inFlight: () => 0, rules: () => RULES });
const naive = new Counter({ name: 'naive', help: 'naive', labelNames: ['rule'], registers: [] });

for (const candidates of [20, 100]) {
  const decide = decisionOf(candidates);
  const selection = decide();
  const caps = selection.judged.flatMap(({ evaluation }) => evaluation.caps);
  const naively = () => {
    for (const { cap } of caps) naive.inc({ rule: cap.rule.id });
  };
  const [decided = NaN, counted = NaN, each = NaN] = microseconds(
    decide,
    () => metrics.decided(selection),
    naively,
  );
  say(
    `${candidates} candidates, ${caps.length} caps: ${decided.toFixed(0)} µs to decide, ${counted.toFixed(1)} µs to count; ${each.toFixed(1)} µs for an increment each`,
  );
}
