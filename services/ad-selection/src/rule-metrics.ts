import type { CompiledRules } from '@adcap/rule-engine';
import { Counter, type Registry } from 'prom-client';
import type { RuleCounts } from './domain/rule-counts.ts';
import { RuleTotals } from './rule-totals.ts';

const NOT_AGAIN = 'an answer that is repeated is not counted again';

const HELP = {
  evaluated: {
    name: 'adcap_ad_selection_rule_evaluated_total',
    help: `Candidates that the rule was weighed for, shadow rules too; ${NOT_AGAIN}. Open and unidentified answers weigh BLOCK and pod windows alone`,
  },
  near: {
    name: 'adcap_ad_selection_rule_near_total',
    help: `Candidates that the rule left exactly one more view, with something counted already; ${NOT_AGAIN}`,
  },
  blocked: {
    name: 'adcap_ad_selection_rule_blocked_total',
    help: `Candidates that were blocked, by the rule that the answer names; ${NOT_AGAIN}`,
  },
  shadowBlocked: {
    name: 'adcap_ad_selection_rule_shadow_blocked_total',
    help: `Candidates that the shadow rule would have blocked; ${NOT_AGAIN}`,
  },
} as const satisfies Record<keyof RuleCounts, { name: string; help: string }>;

/**
 * What each rule did, told when somebody asks: a labelled increment for each cap of each candidate would cost more than
 * weighing it. Only rules in force that a candidate has met have series; those of a rule that is gone disappear.
 *
 * @returns adds the counts of one decision
 */
export const createRuleMetrics = (
  registry: Registry,
  rules: () => CompiledRules | undefined,
): ((counts: ReadonlyMap<string, RuleCounts>) => void) => {
  const totals = new RuleTotals(rules);
  const addCounter = (what: keyof RuleCounts): void => {
    const counter: Counter<'rule'> = new Counter({
      ...HELP[what],
      labelNames: ['rule'],
      registers: [registry],
      collect: () => {
        counter.reset();
        for (const [rule, counts] of totals.all()) counter.inc({ rule }, counts[what]);
      },
    });
  };
  for (const what of ['evaluated', 'near', 'blocked', 'shadowBlocked'] as const) addCounter(what);
  return (counts) => totals.add(counts);
};
