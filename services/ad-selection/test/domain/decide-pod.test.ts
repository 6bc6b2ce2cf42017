import { describe, expect, test } from 'vitest';
import {
  cap,
  createDevice,
  creatives,
  GRACE_MS,
  HOUR,
  keyOf,
  MINUTE,
  NINE,
  outcomes,
  places,
  seen,
  told,
} from './scene.ts';

const hourly = [{ id: 'hourly', dimension: 'creative', limit: cap('1/60m') }] as const;

describe('a pod', () => {
  test('B27 [c1, c1, c2, c1] with one view left grants c1 once and says what filled it', () => {
    const device = createDevice({
      rules: [{ id: 'day', dimension: 'creative', limit: cap('3/24h') }],
      views: [1, 2].map((n) => seen(NINE - n * HOUR, { creativeId: 'c1' })),
    });
    const decision = device.ask({ slots: 4, candidates: creatives('c1', 'c1', 'c2', 'c1') });
    expect(outcomes(decision)).toEqual(['placed', 'podCapped', 'placed', 'podCapped']);
    expect(places(decision)).toEqual([
      [1, 'c1', 0],
      [2, 'c2', 2],
    ]);
    expect(told(decision).unfilled).toBe(2);
    expect(told(decision).candidates[1]).toMatchObject({
      allowed: true,
      remaining: 1,
      blockedBy: { ruleId: 'day', used: 2, reserved: 1 },
    });
  });

  test('B27 of two creatives of a brand with one view left one is placed, another brand is untouched', () => {
    const device = createDevice({ rules: [{ dimension: 'brand', limit: cap('1/24h') }] });
    const candidates = ['b1', 'b1', 'b2'].map((brandId, n) => ({ creativeId: `c${n}`, brandId }));
    expect(outcomes(device.ask({ slots: 3, candidates }))).toEqual(['placed', 'podCapped', 'placed']);
  });

  test('a pod window says its max and no window', () => {
    const device = createDevice({ rules: [{ id: 'one', dimension: 'industry', limit: cap('1/pod') }] });
    const betting = (creativeId: string) => ({ creativeId, industryIds: ['betting'] });
    const { candidates } = told(device.ask({ slots: 2, candidates: [betting('c1'), betting('c2')] }));
    expect(candidates).toMatchObject([
      { outcome: 'placed', remaining: 1 },
      {
        outcome: 'podCapped',
        remaining: 1,
        blockedBy: { ruleId: 'one', windowMs: null, used: 0, reserved: 1 },
      },
    ]);
  });

  test('seconds: each ad takes the first slot that it fits into, and the pod has its own length', () => {
    const timed = (creativeId: string, durationMs?: number) => ({ creativeId, durationMs });
    const decision = createDevice({}).ask({
      slots: [{ maxMs: 15_000 }, { maxMs: 60_000 }, {}],
      podDurationMs: 100_000,
      candidates: [timed('minute', 60_000), timed('short', 15_000), timed('untold'), timed('tiny', 25_000)],
    });
    expect(places(decision)).toEqual([
      [1, 'short', 1],
      [2, 'minute', 0],
      [3, 'tiny', 3],
    ]);
    expect(outcomes(decision)[2]).toBe('noSlot');
  });

  test('what is held counts at the break’s instant and expires after its length and grace', () => {
    const device = createDevice({ rules: hourly });
    const candidates = [{ creativeId: 'c1', durationMs: 14_999.5 }, { creativeId: 'c2' }];
    device.ask({
      slots: 3,
      candidates: [...candidates, { creativeId: 'slate', exempt: true, durationMs: 10_000 }],
    });
    const expiresAt = NINE + 15_000 + 30_000 + 10_000 + GRACE_MS;
    expect(device.held()).toMatchObject([
      { at: NINE, slot: 1, creative: keyOf('c1'), expiresAt },
      { at: NINE, slot: 2, creative: keyOf('c2'), expiresAt },
    ]);
    expect(device.stored()).toMatchObject({ breakAt: NINE, expiresAt });
  });

  test('a break that is over is refused where it would reserve, and only there', () => {
    const device = createDevice({ nowMs: NINE });
    const over = { breakAt: NINE, slots: 1, candidates: creatives('c1') } as const;
    const breakAt = (age: number) => ({ ...over, breakAt: (NINE - age) as typeof NINE });
    expect(device.ask(breakAt(60_000))).toMatchObject({ kind: 'refused', code: 'ADCAP_BREAK_EXPIRED' });
    expect(device.ask({ ...breakAt(60_000), reserve: false })).toMatchObject({ kind: 'decided' });
    expect(device.ask({ ...breakAt(60_000), slots: 0 })).toMatchObject({ kind: 'decided' });
    expect(device.ask(breakAt(59_999))).toMatchObject({ kind: 'decided' });
  });

  test('what the caller chose has its own slot or none', () => {
    const device = createDevice({ rules: hourly, views: [seen(NINE, { creativeId: 'c2' })] });
    const decision = device.ask({ isFixed: true, slots: 3, candidates: creatives('c1', 'c2', 'c3') });
    expect(places(decision)).toEqual([
      [1, 'c1', 0],
      [3, 'c3', 2],
    ]);
  });

  test('reserve false fills a pod beside what the break holds, and writes nothing', () => {
    const device = createDevice({ rules: hourly });
    device.ask({ slots: 1, candidates: creatives('c1') });
    const decision = device.ask({ slots: 2, reserve: false, candidates: creatives('c1') });
    expect(decision).toMatchObject({ kind: 'decided', writing: undefined });
    expect(places(decision)).toEqual([[1, 'c1', 0]]);
    expect(device.held()).toHaveLength(1);
  });
});

describe('a break that is asked for again', () => {
  test('is answered with the whole stored answer, whatever else it brings', () => {
    const device = createDevice({ rules: hourly });
    const first = device.ask({ slots: 3, candidates: creatives('c1', 'c1', 'c2') });
    device.watch(1);
    const again = device.ask({ slots: 1, candidates: creatives('x') });
    expect(again).toMatchObject({ kind: 'stored', round: { ...told(first), rulesVersion: 7 } });
  });

  test('an empty pod is an answer, too', () => {
    const device = createDevice({ rules: hourly, views: [seen(NINE, { creativeId: 'c1' })] });
    device.ask({ slots: 1, candidates: creatives('c1') });
    const again = device.ask({ slots: 1, candidates: creatives('c2') });
    expect(told(again)).toMatchObject({ pod: [], unfilled: 1, candidates: [{ creativeId: 'c1' }] });
  });

  test('its own reservations are left out of what remains', () => {
    const device = createDevice({ rules: hourly });
    device.ask({ slots: 1, candidates: creatives('c1') });
    expect(told(device.ask({ candidates: creatives('c1') })).candidates[0]?.remaining).toBe(1);
  });
});

describe('a later round', () => {
  test('keeps what was granted, answers all places, and counts them in windows and pod windows', () => {
    const rules = [...hourly, { id: 'pod', dimension: 'industry', limit: cap('1/pod') }] as const;
    const device = createDevice({ rules });
    const first = device.ask({ slots: 3, candidates: [{ creativeId: 'c1', industryIds: ['i1'] }] });
    const second = device.ask({
      round: 2,
      slots: 3,
      candidates: [{ creativeId: 'c2', industryIds: ['i1'] }, ...creatives('c1', 'c3')],
    });
    expect(outcomes(second)).toEqual(['podCapped', 'podCapped', 'placed']);
    expect(told(second).pod).toEqual([
      { ...told(first).pod[0], index: null },
      expect.objectContaining({ slot: 2, creativeId: 'c3', index: 2 }),
    ]);
    expect(told(second).unfilled).toBe(1);
    expect(device.held().map(({ slot }) => slot)).toEqual([1, 2]);
    expect(told(device.ask({ slots: 3 }))).toMatchObject(told(first));
    expect(device.ask({ round: 2, slots: 3 })).toMatchObject({ kind: 'stored', round: told(second) });
  });

  test('a place that was watched meanwhile is kept, holds nothing, and counts once', () => {
    const device = createDevice({ rules: [{ dimension: 'creative', limit: cap('2/60m') }] });
    device.ask({ slots: 3, candidates: creatives('c1') });
    device.watch(1);
    const second = device.ask({ round: 2, slots: 3, candidates: creatives('c1', 'c1') });
    expect(places(second)).toEqual([
      [1, 'c1', null],
      [2, 'c1', 0],
    ]);
    expect(outcomes(second)).toEqual(['placed', 'podCapped']);
    expect(device.held().map(({ slot }) => slot)).toEqual([2]);
  });

  test.for([
    ['another number of slots', 1],
    ['another length', [{ maxMs: 15_000 }, {}]],
  ] as const)('is refused under %s', ([, slots]) => {
    const device = createDevice({});
    device.ask({ slots: 2, candidates: creatives('c1') });
    expect(device.ask({ round: 2, slots, candidates: creatives('c2') })).toMatchObject({
      kind: 'refused',
      code: 'ADCAP_BREAK_ROUND_CONFLICT',
    });
  });

  test('without the one before it is as the first; that one is then answered with what there is', () => {
    const device = createDevice({ rules: hourly });
    const second = device.ask({ round: 2, slots: 2, candidates: creatives('c1') });
    expect(places(second)).toEqual([[1, 'c1', 0]]);
    device.see(seen(NINE, { creativeId: 'c1' }));
    const first = device.ask({ round: 1, slots: 2, candidates: creatives('c2') });
    expect(places(first)).toEqual([[1, 'c1', null]]);
    expect(outcomes(first)).toEqual(['noSlot']);
    expect(device.held()).toHaveLength(1);
  });
});

describe('a break that is moved', () => {
  const moved = (minutes: number) => ({ breakAt: (NINE + minutes * MINUTE) as typeof NINE });

  test('keeps the places that still fit, with their ids, and holds them at the new instant', () => {
    const device = createDevice({ rules: hourly, views: [seen(NINE - 50 * MINUTE, { creativeId: 'c2' })] });
    const candidates = creatives('c1', 'c2', 'c3');
    const first = device.ask({ ...moved(30), slots: 2, candidates });
    expect(places(first)).toEqual([
      [1, 'c1', 0],
      [2, 'c2', 1],
    ]);
    const second = device.ask({ ...moved(0), slots: 2, candidates });
    expect(told(second).pod).toEqual([told(first).pod[0]]);
    expect(told(second).unfilled).toBe(1);
    expect(outcomes(second)).toEqual(['placed', 'capped', 'noSlot']);
    expect(device.held()).toMatchObject([{ slot: 1, at: NINE, expiresAt: NINE + 30_000 + GRACE_MS }]);
    expect(told(device.ask({ ...moved(0), slots: 2, candidates }))).toMatchObject(told(second));
    expect(device.held()).toHaveLength(1);
  });

  test('moved back, what was given up stays given up', () => {
    const device = createDevice({ rules: hourly, views: [seen(NINE - 50 * MINUTE, { creativeId: 'c2' })] });
    const ask = (minutes: number) =>
      device.ask({ ...moved(minutes), slots: 2, candidates: creatives('c1', 'c2') });
    ask(30);
    ask(0);
    expect(places(ask(30))).toEqual([[1, 'c1', 0]]);
  });

  test('in a later round it moves first and then fills what is empty', () => {
    const device = createDevice({ rules: hourly, views: [seen(NINE - 50 * MINUTE, { creativeId: 'c2' })] });
    device.ask({ ...moved(30), slots: 2, candidates: creatives('c1', 'c2') });
    const second = device.ask({ ...moved(0), round: 2, slots: 2, candidates: creatives('c2', 'c3') });
    expect(places(second)).toEqual([
      [1, 'c1', null],
      [2, 'c3', 1],
    ]);
    expect(outcomes(second)).toEqual(['capped', 'placed']);
    expect(device.held()).toMatchObject([
      { slot: 1, at: NINE },
      { slot: 2, at: NINE },
    ]);
  });

  test('what was watched stays, whatever the caps say', () => {
    const device = createDevice({ rules: hourly });
    device.ask({ ...moved(0), slots: 2, candidates: creatives('c1', 'c2') });
    device.watch(1, NINE);
    const second = device.ask({ ...moved(1), slots: 2, candidates: creatives('c1', 'c2') });
    expect(places(second)).toEqual([
      [1, 'c1', 0],
      [2, 'c2', 1],
    ]);
    expect(device.held().map(({ slot }) => slot)).toEqual([2]);
  });
});
