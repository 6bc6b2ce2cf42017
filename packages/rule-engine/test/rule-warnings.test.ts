import { epochMs, type Rule } from '@adcap/contracts';
import { parseRuleSet, warnRuleSet } from '@adcap/rule-engine';
import { describe, expect, test } from 'vitest';

const HOUR = 3_600_000;
const NOON = epochMs(1_764_590_400_000);

type Draft = { rules: unknown[]; dimensions?: Record<string, 'on' | 'off'>; nowMs?: number };

const warningsOf = ({ rules, dimensions = {}, nowMs }: Draft): string[] => {
  const parsed = parseRuleSet({ dimensions, rules }, { retentionMs: 24 * HOUR });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return warnRuleSet(parsed.draft, { nowMs }).map(
    ({ ruleId, field, message }) => `${ruleId}, ${field}: ${message}`,
  );
};

/** `c1 3/60m` without the words. */
const cap = (id: string, text: string, more: Partial<Rule> = {}) => {
  const [max, window] = text.split('/');
  return { id, dimension: 'creative', limit: { max: Number(max), window }, ...more };
};

const dk = { when: { market: ['dk', 'no'] } };
const alsoDk = { when: { market: ['no', 'dk'] } };
const timed = { startsAt: NOON, endsAt: epochMs(NOON + HOUR) };
const brand = { dimension: 'brand' } as const;
const c1 = { value: 'c1' };

describe('a cap that can never bind', () => {
  test.for<{ name: string; rules: unknown[]; found: string[] }>([
    {
      name: 'B15 where a generic brand always blocks first',
      rules: [cap('spot', '10/60m', c1), cap('brands', '5/120m', brand)],
      found: [
        'spot, limit: may never bind: where an ad has a brand, rule brands (5/120m) blocks first; did you mean final?',
      ],
    },
    {
      name: 'but a final one binds',
      rules: [cap('spot', '10/60m', { ...c1, final: true }), cap('brands', '5/120m', brand)],
      found: [],
    },
    {
      name: 'generic beside generic, where one holds everywhere',
      rules: [cap('wide', '5/60m', dk), cap('tight', '3/60m')],
      found: ['wide, limit: can never bind: rule tight (3/60m) always blocks first'],
    },
    {
      name: 'beside another of its own value, over a longer time',
      rules: [cap('short', '3/60m', c1), cap('long', '3/120m', c1)],
      found: ['short, limit: can never bind: rule long (3/120m) always blocks first'],
    },
    {
      name: 'under the same when, however it is written',
      rules: [cap('short', '3/60m', dk), cap('long', '3/120m', alsoDk)],
      found: ['short, limit: can never bind: rule long (3/120m) always blocks first'],
    },
    {
      name: 'whatever the spelling of the brand',
      rules: [
        cap('short', '3/60m', { ...brand, value: 'https://www.Acme.example/' }),
        cap('long', '2/120m', { ...brand, value: 'acme.example' }),
      ],
      found: ['short, limit: can never bind: rule long (2/120m) always blocks first'],
    },
    {
      name: 'in one pod',
      rules: [cap('loose', '3/pod', { ...c1, ...dk }), cap('tight', '2/pod', c1)],
      found: ['loose, limit: can never bind: rule tight (2/pod) always blocks first'],
    },
    {
      name: 'of several it names the one that reaches farthest',
      rules: [
        cap('spot', '4/60m', { ...c1, ...dk }),
        cap('a', '1/10m', c1),
        cap('b', '3/90m', c1),
        cap('c', '5/100m', c1),
      ],
      found: ['spot, limit: can never bind: rule b (3/90m) always blocks first'],
    },
  ])('$name', ({ rules, found }) => {
    expect(warningsOf({ rules })).toEqual(found);
  });

  test.for<{ name: string; rules: unknown[] }>([
    {
      name: 'the other allows one more',
      rules: [cap('a', '3/60m', c1), cap('b', '4/120m', c1)],
    },
    { name: 'the other looks back less far', rules: [cap('a', '3/100m', c1), cap('b', '2/60m', c1)] },
    {
      name: 'the other holds elsewhere',
      rules: [cap('a', '3/60m', c1), cap('b', '3/90m', { ...c1, ...dk })],
    },
    {
      name: 'the other has its time',
      rules: [cap('a', '3/60m', c1), cap('b', '3/90m', { ...c1, ...timed })],
    },
    {
      name: 'the other is only shadow',
      rules: [cap('a', '3/60m', c1), cap('b', '3/90m', { ...c1, mode: 'shadow' })],
    },
    {
      name: 'the other is not enabled',
      rules: [cap('a', '3/60m', c1), cap('b', '3/90m', { ...c1, enabled: false })],
    },
    {
      name: 'the other counts another spot',
      rules: [cap('a', '3/60m', c1), cap('b', '3/90m', { value: 'c2' })],
    },
    { name: 'a pod and a time', rules: [cap('a', '3/60m', c1), cap('b', '2/pod', c1)] },
    {
      name: 'generic caps of two dimensions: an ad may lack one',
      rules: [cap('a', '3/60m'), cap('b', '2/90m', brand)],
    },
  ])('is not found where $name', ({ rules }) => {
    expect(warningsOf({ rules })).toEqual([]);
  });
});

describe('other oddities', () => {
  test('a specific cap looser than the generic one which it replaces, unless it is final', () => {
    const generic = cap('any', '3/60m');
    expect(warningsOf({ rules: [cap('spot', '3/60m', c1), generic] })).toEqual([
      'spot, limit: is looser than the generic rule any (3/60m) which it replaces',
    ]);
    expect(warningsOf({ rules: [cap('spot', '3/90m', c1), generic] })).toEqual([]);
    expect(warningsOf({ rules: [cap('spot', '9/60m', { ...c1, final: true }), generic] })).toEqual([]);
  });

  test('OFF and BLOCK without an end', () => {
    const off = { id: 'x', dimension: 'brand', value: 'b', limit: 'OFF' };
    expect(warningsOf({ rules: [off] })).toEqual(['x, endsAt: OFF has no end']);
    expect(warningsOf({ rules: [{ ...off, limit: 'BLOCK' }] })).toEqual(['x, endsAt: BLOCK has no end']);
    expect(
      warningsOf({
        rules: [
          { ...off, endsAt: NOON },
          { ...off, id: 'y', enabled: false },
        ],
      }),
    ).toEqual([]);
  });

  test('what an OFF or a BLOCK of the same value always hides', () => {
    const rule = (id: string, limit: string, more: object = {}) => ({
      id,
      dimension: 'creative',
      value: 'c1',
      limit,
      ...more,
    });
    const spot = cap('spot', '1/60m', { ...c1, ...dk });
    expect(warningsOf({ rules: [spot, rule('off', 'OFF')] })).toEqual([
      'spot, limit: never applies: rule off says OFF there, always',
      'off, endsAt: OFF has no end',
    ]);
    expect(warningsOf({ rules: [spot, rule('off', 'OFF'), rule('never', 'BLOCK')] })).toEqual([
      'spot, limit: never applies: rule never says BLOCK there, always',
      'off, limit: never applies: rule never says BLOCK there, always',
      'never, endsAt: BLOCK has no end',
    ]);
    expect(warningsOf({ rules: [spot, rule('off', 'OFF', timed)] })).toEqual([]);
    expect(warningsOf({ rules: [spot, rule('off', 'OFF', { when: { channel: ['1'] }, ...timed })] })).toEqual(
      [],
    );
  });

  test('a dimension that is off, with how many rules sleep in it, and nothing more about those', () => {
    const rules = [
      cap('a', '3/60m', c1),
      cap('b', '3/90m', c1),
      { id: 'c', dimension: 'creative', value: 'c2', limit: 'BLOCK', endsAt: NOON },
    ];
    expect(warningsOf({ rules, dimensions: { creative: 'off', brand: 'on' } })).toEqual([
      '(rule set), dimensions.creative: is off: no rule of this dimension applies, except BLOCK (2 of them do not)',
    ]);
  });

  test('a rule whose time is over, when the time is known', () => {
    const rules = [cap('a', '3/60m', { ...c1, endsAt: NOON })];
    expect(warningsOf({ rules })).toEqual([]);
    expect(warningsOf({ rules, nowMs: NOON - 1 })).toEqual([]);
    expect(warningsOf({ rules, nowMs: NOON })).toEqual([
      'a, endsAt: its time is over: it never applies again',
    ]);
  });

  test('a window much longer than every other one, with how far every decision then reads', () => {
    const rules = [cap('a', '3/60m'), cap('b', '9/24h', c1), cap('c', '1/90s', { value: 'c2' })];
    const found = 'b, limit.window: this rule alone makes every decision read 24 h instead of 60 min';
    expect(warningsOf({ rules })).toEqual([found]);
    expect(warningsOf({ rules: [...rules, cap('d', '9/12h', { value: 'c3' })] })).toEqual([]);
    expect(warningsOf({ rules: [rules[1]] })).toEqual([]);
  });
});

test('thousands of rules are compared to few others: every cap stands in one place', () => {
  const rules = Array.from({ length: 20_000 }, (_, index) =>
    cap(`r${index}`, `${20_001 - index}/${index + 1}s`, c1),
  );
  expect(warningsOf({ rules }).filter((line) => line.includes('can never bind'))).toHaveLength(19_999);
});
