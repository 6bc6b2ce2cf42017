import { describe, expect, test } from 'vitest';
import { countByRule } from '../../src/domain/rule-counts.ts';
import { cap, createDevice, creatives, MINUTE, NINE, promised, type Request, seen } from './scene.ts';

/** Each rule as evaluated/near/blocked/shadow-blocked. */
const countsOf = (world: Parameters<typeof createDevice>[0], request: Request, isBlind = false) => {
  const decision = createDevice(world).ask(request);
  if (decision.kind !== 'decided') throw new Error(decision.kind);
  const counts = countByRule(decision.judged, decision.decided.candidates, isBlind);
  return Object.fromEntries(
    [...counts].map(([ruleId, { evaluated, near, blocked, shadowBlocked }]) => [
      ruleId,
      [evaluated, near, blocked, shadowBlocked].join('/'),
    ]),
  );
};

const c1Once = [seen(NINE - MINUTE, { creativeId: 'c1' })];

describe('what each rule did in a decision', () => {
  test('evaluated: every cap that applies; near: one more view, and something counts', () => {
    const rules = [
      { id: 'any', dimension: 'creative', limit: cap('2/60m') },
      { id: 'one', dimension: 'brand', limit: cap('1/60m') },
      { id: 'c9', dimension: 'creative', value: 'c9', limit: cap('1/60m') },
    ] as const;
    const candidates = [...creatives('c1', 'c2'), { creativeId: 'c3', brandId: 'b' }];
    const views = c1Once;
    const reservations = [promised(NINE, { creativeId: 'c2' })];
    expect(countsOf({ rules, views, reservations }, { candidates })).toEqual({
      any: '3/2/0/0',
      // Room for one and nothing counted: as far from its cap as it can be.
      one: '1/0/0/0',
    });
  });

  test('blocked: the rule that the answer names, by what was watched or by the pod itself', () => {
    const rules = [
      { id: 'creative', dimension: 'creative', limit: cap('1/60m') },
      { id: 'brand', dimension: 'brand', limit: cap('1/60m') },
    ] as const;
    const candidates = ['c1', 'c2', 'c3'].map((creativeId) => ({ creativeId, brandId: 'b' }));
    expect(countsOf({ rules, views: c1Once }, { slots: 2, candidates })).toEqual({
      creative: '3/0/1/0',
      brand: '3/0/1/0',
    });
  });

  test('a rule meets two industries of a candidate and counts it once', () => {
    const rules = [{ id: 'i', dimension: 'industry', limit: cap('2/60m') }] as const;
    const ad = { creativeId: 'c1', industryIds: ['x', 'y'] };
    expect(countsOf({ rules, views: [seen(NINE, ad)] }, { candidates: [ad, ad] })).toEqual({ i: '2/2/0/0' });
    const shadow = [{ id: 'i', dimension: 'industry', limit: cap('1/60m'), mode: 'shadow' }] as const;
    expect(countsOf({ rules: shadow, views: [seen(NINE, ad)] }, { candidates: [ad] })).toEqual({
      i: '1/0/0/1',
    });
  });

  test('a BLOCK that applies is evaluated and blocks; a shadow rule is evaluated, and blocks nothing', () => {
    const rules = [
      { id: 'never', dimension: 'creative', value: 'c1', limit: 'BLOCK' },
      { id: 'shadow', dimension: 'creative', limit: cap('1/60m'), mode: 'shadow' },
      { id: 'off', dimension: 'creative', value: 'c2', limit: cap('1/60m'), enabled: false },
    ] as const;
    expect(countsOf({ rules, views: c1Once }, { candidates: creatives('c1', 'c2') })).toEqual({
      never: '1/0/1/0',
      shadow: '2/0/0/1',
    });
  });

  test('an exempt ad and a bad candidate meet no cap', () => {
    const rules = [{ id: 'any', dimension: 'creative', limit: cap('1/60m') }] as const;
    expect(countsOf({ rules }, { candidates: [{ creativeId: 'slate', exempt: true }, 7] })).toEqual({});
  });

  test('where nothing was read only BLOCK and pod windows were weighed', () => {
    const rules = [
      { id: 'hourly', dimension: 'creative', limit: cap('2/60m') },
      { id: 'pod', dimension: 'creative', limit: cap('1/pod') },
      { id: 'shadow', dimension: 'brand', limit: cap('1/60m'), mode: 'shadow' },
      { id: 'never', dimension: 'creative', value: 'c9', limit: 'BLOCK' },
    ] as const;
    const candidates = ['c1', 'c1', 'c9'].map((creativeId) => ({ creativeId, brandId: 'b' }));
    expect(countsOf({ rules }, { slots: 2, reserve: false, candidates }, true)).toEqual({
      pod: '3/0/1/0',
      never: '1/0/1/0',
    });
  });
});
