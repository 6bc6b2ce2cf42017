import { AppError, type Rule, type RuleSetDraft } from '@adcap/contracts';
import { expect, test } from 'vitest';
import {
  addRule,
  type Edit,
  removeRule,
  replaceRule,
  restore,
  switchDimension,
} from '../../src/domain/edit-rules.ts';

const BOUNDS = { retentionMs: 86_400_000 };
const rule = (id: string, more: Partial<Rule> = {}): Rule => ({
  id,
  dimension: 'creative',
  value: id,
  limit: { max: 2, window: '60m' },
  ...more,
});
const before: RuleSetDraft = { dimensions: { brand: 'off' }, rules: [rule('a'), rule('b'), rule('c')] };

const after = (edit: Edit, set = before) => {
  const edited = edit(set);
  return edited instanceof AppError
    ? edited.code
    : [JSON.stringify(edited.dimensions), edited.rules.map(({ id, value }) => `${id}=${value}`).join(' ')];
};

const SWITCHES = '{"brand":"off"}';

test.for<[what: string, edit: Edit, expected: unknown]>([
  ['a new rule is the last', addRule(rule('d'), BOUNDS), [SWITCHES, 'a=a b=b c=c d=d']],
  ['an id is taken once', addRule(rule('b', { value: 'z' }), BOUNDS), 'ADCAP_RULES_DUPLICATE'],
  [
    'a replaced rule keeps its place',
    replaceRule(rule('b', { value: 'z' }), BOUNDS),
    [SWITCHES, 'a=a b=z c=c'],
  ],
  ['what is not there is not replaced', replaceRule(rule('z'), BOUNDS), 'ADCAP_RULES_UNKNOWN_RULE'],
  ['a removed rule is gone', removeRule('b', BOUNDS), [SWITCHES, 'a=a c=c']],
  ['what is not there is not removed', removeRule('z', BOUNDS), 'ADCAP_RULES_UNKNOWN_RULE'],
  [
    'a switch leaves the others',
    switchDimension('industry', 'off', BOUNDS),
    ['{"brand":"off","industry":"off"}', 'a=a b=b c=c'],
  ],
  ['a restored set is the other one', restore({ dimensions: {}, rules: [rule('z')] }, BOUNDS), ['{}', 'z=z']],
  [
    'a rule that another excludes is refused',
    addRule(rule('d', { value: 'a', limit: 'OFF' }), BOUNDS),
    'ADCAP_RULES_INVALID',
  ],
  ['also when it replaces one', replaceRule(rule('b', { value: 'a' }), BOUNDS), 'ADCAP_RULES_INVALID'],
])('%s', ([, edit, expected]) => {
  expect(after(edit)).toEqual(expected);
});

test.for<[what: string, edit: Edit]>([
  ['added to', addRule(rule('d'), BOUNDS)],
  ['switched', switchDimension('brand', 'on', BOUNDS)],
  [
    'restored',
    restore({ dimensions: {}, rules: [rule('long', { limit: { max: 1, window: '7d' } })] }, BOUNDS),
  ],
])('a set that today’s laws refuse is not %s', ([, edit]) => {
  const stale: RuleSetDraft = { dimensions: {}, rules: [rule('long', { limit: { max: 1, window: '7d' } })] };
  const edited = edit(stale);
  expect(edited).toMatchObject({
    code: 'ADCAP_RULES_INVALID',
    fields: [{ ruleId: 'long', field: 'limit.window' }],
  });
});
