import { epochMs, type Rule, type RuleSetDraft } from '@adcap/contracts';
import { diffRuleSets } from '@adcap/rule-engine';
import { expect, test } from 'vitest';

const rule = (id: string, more: Partial<Rule> = {}): Rule => ({
  id,
  dimension: 'creative',
  limit: { max: 2, window: '60m' },
  ...more,
});
const set = (rules: readonly Rule[], dimensions: RuleSetDraft['dimensions'] = {}): RuleSetDraft => ({
  dimensions,
  rules,
});
const NOTHING = { added: [], removed: [], changed: [], dimensions: [], isReordered: false };

test('tells rules that came and went by id, and those that changed by their fields', () => {
  const [kept, gone, came] = [rule('kept'), rule('gone'), rule('came')];
  const changed = rule('changed', { value: 'c1', endsAt: epochMs(1_800_000_000_000) });
  const later: Rule = { ...changed, limit: 'OFF', value: 'c2', note: 'sponsor' };
  const { endsAt: _endsAt, ...without } = later;
  expect(diffRuleSets(set([kept, gone, changed]), set([kept, without, came]))).toEqual({
    ...NOTHING,
    added: [came],
    removed: [gone],
    changed: [
      {
        id: 'changed',
        fields: [
          { field: 'value', before: 'c1', after: 'c2' },
          { field: 'limit', before: { max: 2, window: '60m' }, after: 'OFF' },
          { field: 'endsAt', before: 1_800_000_000_000, after: null },
          { field: 'note', before: null, after: 'sponsor' },
        ],
      },
    ],
  });
});

const same: [what: string, before: Rule, after: Rule][] = [
  ['final', rule('r'), rule('r', { final: false })],
  ['mode', rule('r', { mode: 'enforce' }), rule('r')],
  ['enabled', rule('r'), rule('r', { enabled: true })],
  [
    'the order in when',
    rule('r', { when: { market: ['de', 'at'], channel: ['one'] } }),
    rule('r', { when: { channel: ['one'], market: ['at', 'de'] } }),
  ],
  ['the order in a cap', rule('r'), rule('r', { limit: { window: '60m', max: 2 } })],
];
test.for(same)('what means the same is no change: %s', ([, before, after]) => {
  expect(diffRuleSets(set([before]), set([after]))).toEqual(NOTHING);
  expect(diffRuleSets(set([after]), set([before]))).toEqual(NOTHING);
});

const different: [field: string, after: Partial<Rule>][] = [
  ['dimension', { dimension: 'brand' }],
  ['value', { value: 'c1' }],
  ['limit', { limit: { max: 3, window: '60m' } }],
  ['limit', { limit: { max: 2, window: '61m' } }],
  ['final', { final: true }],
  ['when', { when: { market: ['de'] } }],
  ['mode', { mode: 'shadow' }],
  ['enabled', { enabled: false }],
  ['startsAt', { startsAt: epochMs(1_800_000_000_000) }],
  ['endsAt', { endsAt: epochMs(1_800_000_000_000) }],
  ['note', { note: 'why' }],
];
test.for(different)('a change of %s alone is told', ([field, after]) => {
  const { changed } = diffRuleSets(set([rule('r')]), set([rule('r', after)]));
  expect(changed.map(({ fields }) => fields.map((one) => one.field))).toEqual([[field]]);
});

test('tells switches, where a missing one is on', () => {
  expect(
    diffRuleSets(set([], { industry: 'off', brand: 'on' }), set([], { industry: 'on', campaign: 'off' }))
      .dimensions,
  ).toEqual([
    { dimension: 'campaign', before: 'on', after: 'off' },
    { dimension: 'industry', before: 'off', after: 'on' },
  ]);
});

test('tells another order of the rules that both have, which decides ties, and no other', () => {
  const [a, b, c] = [rule('a'), rule('b'), rule('c')];
  expect(diffRuleSets(set([a, b]), set([b, a]))).toEqual({ ...NOTHING, isReordered: true });
  expect(diffRuleSets(set([a, b]), set([c, a, b])).isReordered).toBe(false);
  expect(diffRuleSets(set([c, a, b]), set([a, b])).isReordered).toBe(false);
});
