import { DIMENSIONS, type Rule } from '@adcap/contracts';
import { describe, expect, test } from 'vitest';
import { aRule, cap, evaluate, NINE, seen } from './support.ts';

const ad = { creative: 'c1', campaign: 'k1', brand: 'b1', industries: ['i1'] };
const generic = (dimension: Rule['dimension'], text: string, more: Partial<Rule> = {}) =>
  aRule({ id: `any-${dimension}`, dimension, limit: cap(text), ...more });
/** `"creative=c1"` and what is said about it. */
const specific = (on: string, limit: Rule['limit'], more: Partial<Rule> = {}) => {
  const [name = '', value = ''] = on.split('=');
  const dimension = DIMENSIONS.find((one) => one === name) ?? 'creative';
  return aRule({ id: `this-${dimension}`, dimension, value, limit, ...more });
};

/** The truth table of docs/adr/0006: six views of the ad, and generic caps of 6 that are all full. */
const fullGenerics = (['creative', 'campaign', 'brand', 'industry'] as const).map((dimension) =>
  generic(dimension, '6/60m'),
);

describe('law 3: the ladder', () => {
  test.for<{ name: string; rules: Rule[]; allowed: boolean; decidedBy: string | undefined }>([
    {
      name: 'no specific rule: the highest generic rung decides a tie',
      rules: [],
      allowed: false,
      decidedBy: 'any-creative',
    },
    {
      name: 'a looser specific creative cap does not lift the others',
      rules: [specific('creative=c1', cap('9/60m'))],
      allowed: false,
      decidedBy: 'any-campaign',
    },
    {
      name: 'a final specific creative cap drops every lower rung',
      rules: [specific('creative=c1', cap('9/60m'), { final: true })],
      allowed: true,
      decidedBy: 'this-creative',
    },
    {
      name: 'creative OFF frees the ad from everything below',
      rules: [specific('creative=c1', 'OFF')],
      allowed: true,
      decidedBy: undefined,
    },
    {
      name: 'brand OFF frees from generic creative, brand and industry',
      rules: [specific('brand=b1', 'OFF')],
      allowed: true,
      decidedBy: undefined,
    },
    {
      name: 'brand OFF leaves a higher specific creative cap',
      rules: [specific('brand=b1', 'OFF'), specific('creative=c1', cap('2/60m'))],
      allowed: false,
      decidedBy: 'this-creative',
    },
    {
      name: 'brand OFF leaves a higher specific campaign cap',
      rules: [specific('brand=b1', 'OFF'), specific('campaign=k1', cap('6/60m'))],
      allowed: false,
      decidedBy: 'this-campaign',
    },
    {
      name: 'brand OFF drops a lower specific industry cap',
      rules: [specific('brand=b1', 'OFF'), specific('industry=i1', cap('1/60m'))],
      allowed: true,
      decidedBy: undefined,
    },
    {
      name: 'a final brand cap keeps itself and drops the rest',
      rules: [specific('brand=b1', cap('7/60m'), { final: true })],
      allowed: true,
      decidedBy: 'this-brand',
    },
    {
      name: 'the only industry OFF ends the walk for the generics',
      rules: [specific('industry=i1', 'OFF')],
      allowed: true,
      decidedBy: undefined,
    },
    {
      name: 'BLOCK means never, over OFF',
      rules: [specific('creative=c1', 'OFF'), specific('brand=b1', 'BLOCK')],
      allowed: false,
      decidedBy: 'BLOCK',
    },
  ])('$name', ({ rules, allowed, decidedBy }) => {
    const evaluation = evaluate({ rules: [...rules, ...fullGenerics], watched: seen(ad, 6) }, ad);
    expect(evaluation.allowed).toBe(allowed);
    expect(evaluation.block === undefined ? evaluation.binding?.cap.rule.id : 'BLOCK').toBe(decidedBy);
  });

  test('B15 the brand decides where the brand is full, and is named', () => {
    const rules = [generic('creative', '3/60m'), generic('brand', '5/120m')];
    const others = seen({ ...ad, creative: 'c9' }, 4);
    const evaluation = evaluate({ rules, watched: [...seen(ad, 1), ...others] }, ad);
    expect(evaluation).toMatchObject({ allowed: false, remaining: 0 });
    expect(evaluation.binding).toMatchObject({ cap: { rule: { id: 'any-brand' } }, standing: { used: 5 } });
  });

  test('B14 two windows on one creative keep their own numbers', () => {
    const rules = [
      specific('creative=c1', cap('2/60m'), { id: 'hour' }),
      specific('creative=c1', cap('4/24h'), { id: 'day' }),
    ];
    const { caps } = evaluate({ rules, watched: [...seen(ad, 1), { ...ad, at: NINE - 7_200_000 }] }, ad);
    expect(caps.map(({ cap: { rule, max }, standing }) => [rule.id, max, standing.room])).toEqual([
      ['hour', 2, 1],
      ['day', 4, 2],
    ]);
  });

  test('B16 a campaign cap counts every creative of it, under the campaign each had when watched', () => {
    const rules = [specific('campaign=k1', cap('2/60m'))];
    const [c1, c2, c3] = ['c1', 'c2', 'c3'].map((creative) => ({ creative, campaign: 'k1', industries: [] }));
    if (c1 === undefined || c2 === undefined || c3 === undefined) throw new Error('three ads');
    const watched = [...seen(c1, 1), ...seen(c2, 1)];
    expect([c1, c2].map((one) => evaluate({ rules, watched }, one).remaining)).toEqual([0, 0]);
    expect(evaluate({ rules, watched }, { ...c3, campaign: 'k2' }).remaining).toBeNull();
    expect(evaluate({ rules, watched }, { ...c2, campaign: 'k2' }).remaining).toBeNull();
    expect(evaluate({ rules, watched }, c1).remaining).toBe(0);
  });

  test('several industries are each resolved by themselves', () => {
    const rules = [
      specific('industry=i1', 'OFF'),
      generic('industry', '1/60m'),
      generic('creative', '2/60m'),
    ];
    const both = { ...ad, industries: ['i1', 'i2'] };
    const { caps } = evaluate({ rules }, both);
    expect(caps.map((one) => [one.cap.rule.id, one.cap.value.value])).toEqual([
      ['any-creative', 'c1'],
      ['any-industry', 'i2'],
    ]);
    expect(evaluate({ rules }, { ...ad, industries: ['i1'] }).caps).toEqual([]);
  });

  test('an ad without industries never ends its walk at the industry rung', () => {
    const rules = [specific('industry=i1', 'OFF'), generic('creative', '2/60m')];
    expect(evaluate({ rules }, { ...ad, industries: [] }).caps).toHaveLength(1);
  });

  test('a dimension that is switched off has no rules, but BLOCK holds in it and for exempt ads', () => {
    const dimensions = { brand: 'off' } as const;
    const off = evaluate(
      { dimensions, rules: [specific('brand=b1', 'OFF'), generic('creative', '1/60m')] },
      ad,
    );
    expect(off.caps.map((one) => one.cap.rule.id)).toEqual(['any-creative']);
    const blocked = evaluate({ dimensions, rules: [specific('brand=b1', 'BLOCK')] }, { ...ad, exempt: true });
    expect(blocked).toMatchObject({ allowed: false, remaining: 0, nextAllowedAt: undefined });
  });

  test('an exempt ad is never capped', () => {
    const evaluation = evaluate(
      { rules: [generic('creative', '1/60m')], watched: seen(ad, 3) },
      { ...ad, exempt: true },
    );
    expect(evaluation).toMatchObject({ allowed: true, remaining: null });
  });

  test('impressions of an OFF ad count in the windows of others', () => {
    const rules = [specific('creative=c1', 'OFF'), generic('industry', '1/60m')];
    const other = { creative: 'c2', industries: ['i1'] };
    expect(evaluate({ rules, watched: seen(ad, 1) }, other).allowed).toBe(false);
  });

  test.for([
    { name: 'disabled', more: { enabled: false } },
    { name: 'shadow', more: { mode: 'shadow' as const } },
    { name: 'for another market', more: { when: { market: ['se'] } } },
    { name: 'for a key that the context lacks', more: { when: { audience: ['kids'] } } },
    { name: 'over', more: { endsAt: NINE } },
    { name: 'yet to start', more: { startsAt: (NINE + 1) as typeof NINE } },
  ])('an OFF that is $name replaces and ends nothing', ({ more }) => {
    const rules = [specific('brand=b1', 'OFF', more), generic('brand', '1/60m')];
    const evaluation = evaluate({ rules, watched: seen(ad, 1), context: { market: 'dk' } }, ad);
    expect(evaluation.allowed).toBe(false);
  });

  test('startsAt is inclusive, and a context value may be a list', () => {
    const rules = [generic('brand', '1/60m', { startsAt: NINE, when: { market: ['dk'] } })];
    const evaluation = evaluate({ rules, watched: seen(ad, 1), context: { market: ['se', 'dk'] } }, ad);
    expect(evaluation.allowed).toBe(false);
  });

  test('a shadow rule tells what it would have blocked and blocks nothing', () => {
    const rules = [generic('brand', '1/60m', { mode: 'shadow' })];
    const evaluation = evaluate({ rules, watched: seen(ad, 1) }, ad);
    expect(evaluation).toMatchObject({ allowed: true, remaining: null });
    expect(evaluation.shadowBlocked.map(({ rule }) => rule.id)).toEqual(['any-brand']);
  });

  test('B20 a brand rule is written in any spelling of its domain', () => {
    const rules = [specific('brand=https://www.Acme.example/shop', cap('1/60m'))];
    const acme = { creative: 'c1', brand: 'acme.example', industries: [] };
    expect(evaluate({ rules, watched: seen(acme, 1) }, acme).allowed).toBe(false);
    expect(evaluate({ rules, watched: seen(acme, 1) }, { ...acme, brand: 'api.acme.example' }).allowed).toBe(
      true,
    );
  });

  test('the next allowed instant knows when a rule ends', () => {
    const endsAt = (NINE + 600_000) as typeof NINE;
    const rules = [generic('brand', '1/60m', { endsAt })];
    expect(evaluate({ rules, watched: seen(ad, 1) }, ad).nextAllowedAt).toBe(endsAt);
  });
});
