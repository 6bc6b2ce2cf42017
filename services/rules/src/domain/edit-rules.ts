import { AppError, type Dimension, type Rule, type RuleFinding, type RuleSetDraft } from '@adcap/contracts';
import { parseRuleSet, type RuleBounds } from '@adcap/rule-engine';

/** A change of the set in force, or why it cannot be made. */
export type Edit = (before: RuleSetDraft) => RuleSetDraft | AppError;

export const invalidRules = (errors: readonly RuleFinding[]): AppError => {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const detail = `Rule ${first?.ruleId}, ${first?.field}: ${first?.message}${more}. The rules in force stay in force.`;
  return new AppError('ADCAP_RULES_INVALID', detail, { fields: errors });
};

const unknownRule = (id: string): AppError =>
  new AppError('ADCAP_RULES_UNKNOWN_RULE', `There is no rule ${id}.`);

/** However small the change, the set is judged whole: rules that are right alone may exclude each other. */
const judgedWhole = (draft: RuleSetDraft, bounds: RuleBounds): RuleSetDraft | AppError => {
  const set = parseRuleSet(draft, bounds);
  return set.ok ? set.draft : invalidRules(set.errors);
};

/** The last one of the set: on one rung the earlier one decides ties. */
export const addRule =
  (rule: Rule, bounds: RuleBounds): Edit =>
  ({ dimensions, rules }) =>
    rules.some(({ id }) => id === rule.id)
      ? new AppError('ADCAP_RULES_DUPLICATE', `There is a rule ${rule.id}; PUT replaces it.`)
      : judgedWhole({ dimensions, rules: [...rules, rule] }, bounds);

/** In the place of the old one. */
export const replaceRule =
  (rule: Rule, bounds: RuleBounds): Edit =>
  ({ dimensions, rules }) =>
    rules.some(({ id }) => id === rule.id)
      ? judgedWhole({ dimensions, rules: rules.map((old) => (old.id === rule.id ? rule : old)) }, bounds)
      : unknownRule(rule.id);

export const removeRule =
  (id: string, bounds: RuleBounds): Edit =>
  ({ dimensions, rules }) =>
    rules.some((rule) => rule.id === id)
      ? judgedWhole({ dimensions, rules: rules.filter((rule) => rule.id !== id) }, bounds)
      : unknownRule(id);

export const switchDimension =
  (dimension: Dimension, state: 'on' | 'off', bounds: RuleBounds): Edit =>
  ({ dimensions, rules }) =>
    judgedWhole({ dimensions: { ...dimensions, [dimension]: state }, rules }, bounds);

/** The set of another version. Judged by the laws of today: a shorter retention may have made it wrong. */
export const restore =
  ({ dimensions, rules }: RuleSetDraft, bounds: RuleBounds): Edit =>
  () =>
    judgedWhole({ dimensions, rules }, bounds);
