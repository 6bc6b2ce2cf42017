import { fillPod, keepFitting } from '@adcap/rule-engine';
import type { OracleAd } from '@adcap/testkit/oracle';
import { toEngineAd } from '@adcap/testkit/oracle';
import { describe, expect, test } from 'vitest';
import { aRule, cap, evaluate, keyOf, seen } from './support.ts';

const creative = (name: string, more: Partial<OracleAd> = {}): OracleAd => ({
  creative: name,
  industries: [],
  ...more,
});
const slotsOf = (count: number) => Array.from({ length: count }, () => ({}));

describe('a pod is filled in the ad server’s order', () => {
  test('B27 a creative with one view left is granted once and its place is reported', () => {
    const scene = {
      rules: [aRule({ dimension: 'creative', limit: cap('3/24h') })],
      watched: seen(creative('c1'), 2),
    };
    const entries = ['c1', 'c1', 'c2', 'c1'].map((name) => evaluate(scene, creative(name)));
    const fates = fillPod(entries, { slots: slotsOf(4), kept: [] });
    expect(fates.map((fate) => (fate.kind === 'placed' ? fate.slot : fate.kind))).toEqual([
      1,
      'podCapped',
      2,
      'podCapped',
    ]);
  });

  test('B27 of two creatives of one brand with one view left one is placed, another brand is untouched', () => {
    const rules = [aRule({ dimension: 'brand', limit: cap('1/24h') })];
    const entries = [
      creative('c1', { brand: 'b1' }),
      creative('c2', { brand: 'b1' }),
      creative('c3', { brand: 'b2' }),
    ].map((ad) => evaluate({ rules }, ad));
    const fates = fillPod(entries, { slots: slotsOf(3), kept: [] });
    expect(fates.map(({ kind }) => kind)).toEqual(['placed', 'podCapped', 'placed']);
  });

  test('a pod window counts this pod alone, kept places included', () => {
    const rules = [aRule({ dimension: 'industry', limit: cap('1/pod') })];
    const betting = creative('c1', { industries: ['betting'] });
    const entry = evaluate({ rules, watched: seen(betting, 5) }, betting);
    expect(entry).toMatchObject({ allowed: true, remaining: 1 });
    const kept = [{ slot: 2, ad: toEngineAd(betting, keyOf) }];
    expect(fillPod([entry], { slots: slotsOf(3), kept: [] })).toEqual([{ kind: 'placed', slot: 1 }]);
    expect(fillPod([entry], { slots: slotsOf(3), kept })[0]?.kind).toBe('podCapped');
  });

  test('kept places stay where they are; the next ad takes the first empty slot', () => {
    const kept = [{ slot: 1, ad: toEngineAd(creative('c9'), keyOf) }];
    expect(fillPod([evaluate({ rules: [] }, creative('c1'))], { slots: slotsOf(2), kept })).toEqual([
      { kind: 'placed', slot: 2 },
    ]);
  });

  test('seconds: an ad takes the first slot it fits into, and the pod has its own length', () => {
    const entries = [60_000, 15_000, 30_000].map((durationMs, index) => {
      const evaluation = evaluate({ rules: [] }, creative(`c${index}`));
      return { ...evaluation, ad: { ...evaluation.ad, durationMs } };
    });
    const pod = { slots: [{ maxMs: 15_000 }, { maxMs: 60_000 }, {}], podDurationMs: 80_000, kept: [] };
    expect(fillPod(entries, pod)).toEqual([
      { kind: 'placed', slot: 2 },
      { kind: 'placed', slot: 1 },
      { kind: 'noSlot', why: 'tooLong' },
    ]);
  });

  test.for([
    ['a slot is empty and too short', { slots: [{}, { maxMs: 15_000 }] }, 'tooLong'],
    ['what is left of the pod is too short', { slots: slotsOf(2), podDurationMs: 59_999 }, 'tooLong'],
    ['every slot is taken, however short the pod is', { slots: slotsOf(1), podDurationMs: 30_000 }, 'full'],
    ['its own slot is taken', { slots: slotsOf(2), fixedSlots: [1, 1] }, 'full'],
    ['its own slot is too short', { slots: [{}, { maxMs: 1 }, {}], fixedSlots: [1, 2] }, 'tooLong'],
  ] as const)('an ad has no slot where %s', ([, pod, why]) => {
    const entries = ['c1', 'c2'].map((name) => evaluate({ rules: [] }, creative(name)));
    expect(fillPod(entries, { ...pod, kept: [] })[1]).toEqual({ kind: 'noSlot', why });
  });

  test('an exempt ad is never capped but counts for the others of its pod', () => {
    const rules = [aRule({ dimension: 'creative', limit: cap('1/60m') })];
    const entries = [creative('c1', { exempt: true }), creative('c1'), creative('c1', { exempt: true })].map(
      (ad) => evaluate({ rules }, ad),
    );
    const fates = fillPod(entries, { slots: slotsOf(3), kept: [] });
    expect(fates.map(({ kind }) => kind)).toEqual(['placed', 'podCapped', 'placed']);
  });

  test('a moved pod keeps the places that fit, each counting the ones before it', () => {
    const rules = [aRule({ dimension: 'brand', limit: cap('1/60m') })];
    const places = [
      { slot: 1, evaluation: evaluate({ rules }, creative('c1', { brand: 'b1' })) },
      { slot: 2, evaluation: evaluate({ rules }, creative('c2', { brand: 'b1' })) },
      { slot: 3, evaluation: evaluate({ rules }, creative('c3', { brand: 'b2' })) },
    ];
    expect(keepFitting(places)).toEqual([1, 3]);
  });

  test('a place that was watched counts in its window by itself, and in the pod', () => {
    const rules = [
      aRule({ dimension: 'creative', limit: cap('2/60m') }),
      aRule({ id: 'pod', dimension: 'industry', limit: cap('1/pod') }),
    ];
    const ad = creative('c1', { industries: ['betting'] });
    const watched = [{ slot: 1, ad: toEngineAd(ad, keyOf), watched: true }];
    const pod = { slots: slotsOf(2), kept: watched };
    const plain = evaluate({ rules, watched: seen(ad, 1) }, creative('c1'));
    expect(fillPod([plain], pod)).toEqual([{ kind: 'placed', slot: 2 }]);
    const [fate] = fillPod([evaluate({ rules, watched: seen(ad, 1) }, ad)], pod);
    expect(fate).toMatchObject({ kind: 'podCapped', by: { cap: { rule: { id: 'pod' } } } });
  });

  test('places that the caller has chosen are not shifted', () => {
    const rules = [aRule({ dimension: 'creative', limit: cap('1/60m') })];
    const entries = [creative('c1'), creative('c1'), creative('c2')].map((ad) => evaluate({ rules }, ad));
    const fates = fillPod(entries, { slots: slotsOf(3), kept: [], fixedSlots: [1, 2, 3] });
    expect(fates.map((fate) => (fate.kind === 'placed' ? fate.slot : fate.kind))).toEqual([
      1,
      'podCapped',
      3,
    ]);
  });
});
