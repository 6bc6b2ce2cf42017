import type { Rule, RuleSet } from '@adcap/contracts';
import { type CompiledRules, compileRules, parseRuleSet } from '@adcap/rule-engine';

/** The ads that interleavings are about: they share campaigns, brands and industries, so that every grant touches others. */
export const ADS = [
  { creativeId: 'c1', campaignId: 'k1', brandId: 'b1.example', industryIds: ['i1'] },
  { creativeId: 'c2', campaignId: 'k1', brandId: 'b1.example', industryIds: ['i2'] },
  { creativeId: 'c3', campaignId: 'k2', brandId: 'b1.example', industryIds: ['i1', 'i2'] },
  { creativeId: 'c4', campaignId: 'k2', brandId: 'b2.example', industryIds: [] },
  { creativeId: 'c5', campaignId: 'k3', brandId: 'b2.example', industryIds: ['i1'], exempt: true },
  { creativeId: 'c6', campaignId: 'k3', brandId: 'b3.example', industryIds: ['i2'] },
] as const;

const cap = (max: number, window: string) => ({ max, window });

const RULES: readonly (readonly Omit<Rule, 'id'>[])[] = [
  [
    { dimension: 'creative', limit: cap(2, '60m') },
    { dimension: 'brand', limit: cap(3, '60m') },
    { dimension: 'industry', value: 'i1', limit: cap(2, '24h') },
  ],
  [
    { dimension: 'creative', limit: cap(1, '30m') },
    { dimension: 'industry', limit: cap(2, '60m') },
    { dimension: 'brand', limit: cap(1, 'pod') },
  ],
  [
    { dimension: 'creative', value: 'c4', limit: 'BLOCK' },
    { dimension: 'campaign', value: 'k1', limit: cap(2, '24h') },
    { dimension: 'creative', limit: cap(3, '24h') },
  ],
  [
    { dimension: 'brand', value: 'b1.example', limit: 'OFF' },
    { dimension: 'creative', value: 'c1', limit: cap(1, '60m') },
    { dimension: 'creative', limit: cap(1, '10m') },
    { dimension: 'industry', limit: cap(1, '60m'), mode: 'shadow' },
  ],
  [
    { dimension: 'creative', value: 'c1', limit: cap(3, '60m'), final: true },
    { dimension: 'campaign', limit: cap(2, '60m') },
    { dimension: 'brand', limit: cap(2, '24h') },
  ],
];

const SETS: readonly RuleSet[] = RULES.map((rules) => {
  const named = rules.map((rule, index) => ({ ...rule, id: `r${index}` }));
  const parsed = parseRuleSet({ rules: named }, { retentionMs: 86_400_000 });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return { version: 0, ...parsed.draft };
});

const compiled = new Map<number, CompiledRules>();

/** The rules of a version: the sets come round again and again. */
export const ruleSetOf = (version: number): RuleSet => {
  const set = SETS[version % SETS.length];
  if (set === undefined) throw new Error(`there is no version ${version}`);
  return { ...set, version };
};

export const rulesOf = (version: number): CompiledRules => {
  const rules = compiled.get(version) ?? compileRules(ruleSetOf(version));
  compiled.set(version, rules);
  return rules;
};

/** One version for each set: what may have been in force where an answer names none. */
export const ONE_OF_EACH: readonly number[] = SETS.map((_, index) => index);
