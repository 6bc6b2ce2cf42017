import { parseRuleSet } from '@adcap/rule-engine';
import { describe, expect, test } from 'vitest';

const bounds = { retentionMs: 86_400_000 };
const good = { id: 'good', dimension: 'creative', limit: { max: 3, window: '60m' } };
const errorsOf = (input: unknown) => {
  const parsed = parseRuleSet(input, bounds);
  return parsed.ok ? [] : parsed.errors.map(({ ruleId, field }) => `${ruleId}: ${field}`);
};
const withLimit = (limit: unknown) => ({ rules: [good, { id: 'bad', dimension: 'brand', limit }] });

describe('law 4: a wrong rule set is refused whole, naming rule and field', () => {
  test.for([
    { name: 'B14 a max of 0', input: withLimit({ max: 0, window: '60m' }), error: 'bad: limit.max' },
    { name: 'B14 a max of -1', input: withLimit({ max: -1, window: '60m' }), error: 'bad: limit.max' },
    { name: 'B14 a max of 1.5', input: withLimit({ max: 1.5, window: '60m' }), error: 'bad: limit.max' },
    { name: 'B14 a max of "3"', input: withLimit({ max: '3', window: '60m' }), error: 'bad: limit.max' },
    { name: 'B14 a max of null', input: withLimit({ max: null, window: '60m' }), error: 'bad: limit.max' },
    { name: 'B14 no max', input: withLimit({ window: '60m' }), error: 'bad: limit.max' },
    { name: 'no limit', input: withLimit(undefined), error: 'bad: limit' },
    { name: 'a bare OFF read as false', input: withLimit(false), error: 'bad: limit' },
    { name: 'a window of 0s', input: withLimit({ max: 1, window: '0s' }), error: 'bad: limit.window' },
    {
      name: 'a window longer than the retention',
      input: withLimit({ max: 1, window: '25h' }),
      error: 'bad: limit.window',
    },
    {
      name: 'a window without a unit',
      input: withLimit({ max: 1, window: '60' }),
      error: 'bad: limit.window',
    },
    { name: 'a window as a number', input: withLimit({ max: 1, window: 60 }), error: 'bad: limit.window' },
    {
      name: 'an unknown field in a limit',
      input: withLimit({ max: 1, window: '1m', per: 'day' }),
      error: 'bad: limit.per',
    },
    { name: 'a generic OFF', input: withLimit('OFF'), error: 'bad: limit' },
    { name: 'a generic BLOCK', input: withLimit('BLOCK'), error: 'bad: limit' },
    {
      name: 'B14 a duplicate id',
      input: { rules: [good, { ...good, dimension: 'brand' }] },
      error: 'good: id',
    },
    {
      name: 'a value read as a number',
      input: { rules: [{ ...good, value: 839201 }] },
      error: 'good: value',
    },
    { name: 'an id read as a number', input: { rules: [{ ...good, id: 7 }] }, error: 'rules.0: id' },
    { name: 'an unknown field', input: { rules: [{ ...good, windw: '1m' }] }, error: 'good: windw' },
    { name: 'a final generic', input: { rules: [{ ...good, final: true }] }, error: 'good: final' },
    { name: 'an unfilled value', input: { rules: [{ ...good, value: '[CID]' }] }, error: 'good: value' },
    {
      name: 'an empty when list',
      input: { rules: [{ ...good, when: { market: [] } }] },
      error: 'good: when.market',
    },
    {
      name: 'endsAt before startsAt',
      input: { rules: [{ ...good, startsAt: '2026-03-02T09:00:00Z', endsAt: '2026-03-02T08:00:00Z' }] },
      error: 'good: endsAt',
    },
    {
      name: 'a zoneless instant',
      input: { rules: [{ ...good, startsAt: '2026-03-02T09:00:00' }] },
      error: 'good: startsAt',
    },
    {
      name: 'two equal windows on one rung',
      input: { rules: [good, { ...good, id: 'twin', limit: { max: 9, window: '1h' } }] },
      error: 'twin: limit',
    },
    {
      name: 'OFF beside a cap',
      input: {
        rules: [
          { ...good, value: 'c1' },
          { ...good, id: 'off', value: 'c1', limit: 'OFF' },
        ],
      },
      error: 'off: limit',
    },
    {
      name: 'two spellings of one brand',
      input: {
        rules: [
          { ...good, dimension: 'brand', value: 'acme.example' },
          { ...good, id: 'again', dimension: 'brand', value: 'https://ACME.example/' },
        ],
      },
      error: 'again: limit',
    },
    {
      name: 'an unknown dimension switch',
      input: { dimensions: { seller: 'off' }, rules: [] },
      error: '(rule set): dimensions.seller',
    },
    {
      name: 'a switch read as false',
      input: { dimensions: { brand: false }, rules: [] },
      error: '(rule set): dimensions.brand',
    },
    { name: 'an unknown top-level field', input: { rule: [], rules: [] }, error: '(rule set): rule' },
    { name: 'no rules', input: {}, error: '(rule set): rules' },
    { name: 'a list', input: [], error: '(rule set): ' },
  ])('$name', ({ input, error }) => {
    expect(errorsOf(input)).toContain(error);
  });

  test.for([
    { name: 'B14 a max of 1e9', rules: [{ ...good, limit: { max: 1e9, window: '60m' } }] },
    {
      name: 'several windows on one rung',
      rules: [good, { ...good, id: 'day', limit: { max: 9, window: '24h' } }],
    },
    { name: 'a shadow twin', rules: [good, { ...good, id: 'twin', mode: 'shadow' }] },
    { name: 'a disabled twin', rules: [good, { ...good, id: 'twin', enabled: false }] },
    {
      name: 'OFF under another when',
      rules: [
        { ...good, value: 'c1' },
        { ...good, id: 'off', value: 'c1', limit: 'OFF', when: { market: ['dk'] } },
      ],
    },
    {
      name: 'BLOCK beside a cap',
      rules: [
        { ...good, value: 'c1' },
        { ...good, id: 'block', value: 'c1', limit: 'BLOCK' },
      ],
    },
    { name: 'a pod window', rules: [{ ...good, limit: { max: 1, window: 'pod' } }] },
  ])('$name is taken', ({ rules }) => {
    expect(errorsOf({ rules })).toEqual([]);
  });

  test('every error of a set is told at once', () => {
    expect(errorsOf({ rules: [{ id: 'a' }, { id: 'b', dimension: 'x' }] })).toEqual(
      expect.arrayContaining(['a: dimension', 'a: limit', 'b: dimension', 'b: limit']),
    );
  });
});
