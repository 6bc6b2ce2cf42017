import type { Rule, RuleFinding } from '@adcap/contracts';
import { parseRuleSet, type RuleBounds } from '@adcap/rule-engine';

export type JudgedRule = { ok: true; rule: Rule } | { ok: false; errors: readonly RuleFinding[] };

/** A rule that says no id of its own, in findings. */
const THE_RULE = '(rule)';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One rule judged by itself, by the measure of sets. With `id`: under that one, which it need not repeat. */
export const judgeRule = (body: unknown, bounds: RuleBounds, id?: string): JudgedRule => {
  const refused = (field: string, message: string): JudgedRule => ({
    ok: false,
    errors: [{ ruleId: id ?? THE_RULE, field, message }],
  });
  if (!isRecord(body)) return refused('', 'must be a rule: { id, dimension, value?, limit, … }');
  if (id !== undefined && body['id'] !== undefined && body['id'] !== id)
    return refused('id', 'must be the id in the path, or be left out');
  const set = parseRuleSet({ rules: [id === undefined ? body : { ...body, id }] }, bounds);
  if (!set.ok) {
    const named = (ruleId: string): string => (ruleId === 'rules.0' ? THE_RULE : ruleId);
    return { ok: false, errors: set.errors.map((found) => ({ ...found, ruleId: named(found.ruleId) })) };
  }
  const [rule] = set.draft.rules;
  return rule === undefined ? refused('', 'must be a rule') : { ok: true, rule };
};
