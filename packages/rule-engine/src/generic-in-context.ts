import type { Context, Dimension } from '@adcap/contracts';
import { whenFits } from './applies.ts';
import type { CompiledRule, CompiledRules } from './compile-rules.ts';

type Generic = CompiledRules['generic'];

const found = new WeakMap<CompiledRules, WeakMap<Context, Generic>>();

const mayApply = (rule: CompiledRule, context: Context): boolean => rule.enabled && whenFits(rule, context);

const isConditional = ({ generic }: CompiledRules): boolean =>
  Object.values(generic).some((rules) => rules.some(({ when, enabled }) => !enabled || when.size > 0));

const conditional = new WeakMap<CompiledRules, boolean>();

const hasConditions = (rules: CompiledRules): boolean => {
  const known = conditional.get(rules) ?? isConditional(rules);
  conditional.set(rules, known);
  return known;
};

/**
 * The generic rules that can apply in a context, at some time. All candidates of a decision have one context: with a rule for each
 * of hundreds of channels, those of the others are passed over once and not for every candidate.
 */
export const genericInContext = (rules: CompiledRules, context: Context): Generic => {
  if (!hasConditions(rules)) return rules.generic;
  const ofRules = found.get(rules) ?? new WeakMap<Context, Generic>();
  found.set(rules, ofRules);
  const known = ofRules.get(context);
  if (known !== undefined) return known;
  const fitting = (dimension: Dimension): readonly CompiledRule[] =>
    rules.generic[dimension].filter((rule) => mayApply(rule, context));
  const generic: Generic = {
    creative: fitting('creative'),
    campaign: fitting('campaign'),
    brand: fitting('brand'),
    industry: fitting('industry'),
  };
  ofRules.set(context, generic);
  return generic;
};
