import { epochMs } from '@adcap/contracts';
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/domain/decide.ts';
import { parseStoredPod } from '../../src/domain/stored-pod.ts';
import { tellEmpty } from '../../src/domain/tell.ts';
import {
  askOf,
  cap,
  createDevice,
  creatives,
  HOUR,
  MINUTE,
  NINE,
  promised,
  type Request,
  seen,
  settingOf,
  told,
} from './scene.ts';

const hourly = [{ id: 'hourly', dimension: 'creative', limit: cap('1/60m') }] as const;
const timed = (creativeId: string, durationMs?: number) => ({ creativeId, durationMs });

/** `2: podCapped hourly ×2, tooLong ×1` for each empty slot. */
const inWords = (slots: ReturnType<typeof told>['emptySlots']): string[] =>
  (slots ?? []).map(
    ({ slot, reasons }) =>
      `${slot}: ${reasons
        .map(({ reason, ruleId, candidates }) => `${[reason, ruleId].join(' ').trim()} ×${candidates}`)
        .join(', ')}`,
  );
const reasons = (decision: Parameters<typeof told>[0]) => inWords(told(decision).emptySlots);

describe('the reasons that emptied a slot', () => {
  test('are not told where every slot is filled, or none was asked for', () => {
    const device = createDevice({ rules: hourly, views: [seen(NINE, { creativeId: 'c1' })] });
    expect(told(device.ask({ slots: 1, candidates: creatives('c1', 'c2') }))).not.toHaveProperty(
      'emptySlots',
    );
    expect(told(device.ask({ slots: 0, candidates: creatives('c1') }))).not.toHaveProperty('emptySlots');
  });

  test.for<[string, Request, string[]]>([
    [
      'what was watched, and the pod itself, each by its rule',
      { slots: 4, candidates: creatives('c1', 'c2', 'c3', 'c3', 'c2', 'c3') },
      ['3: podCapped hourly ×3, capped hourly ×1', '4: podCapped hourly ×3, capped hourly ×1'],
    ],
    [
      'the rule that blocks in an emergency, also an exempt ad',
      { slots: 1, candidates: [{ creativeId: 'bad', exempt: true }] },
      ['1: capped never ×1'],
    ],
    [
      'a slot that is too short, and a pod that is full by seconds',
      { slots: [{ maxMs: 15_000 }, {}], candidates: [timed('c2', 30_000), timed('c3', 20_000)] },
      ['1: tooLong ×1'],
    ],
    [
      'what is left of the pod',
      { slots: 2, podDurationMs: 40_000, candidates: [timed('c2', 30_000), timed('c3', 10_001)] },
      ['2: tooLong ×1'],
    ],
    [
      'a candidate that is none, ties in the order of the reasons',
      { slots: 2, candidates: [7, { creativeId: 'c1' }] },
      ['1: capped hourly ×1, invalid ×1', '2: capped hourly ×1, invalid ×1'],
    ],
    ['no candidates at all', { slots: 2, candidates: [] }, ['1: noCandidates ×0', '2: noCandidates ×0']],
    [
      'fewer candidates than slots: what is left over empties one slot each',
      { slots: 4, candidates: creatives('c2', 'c1') },
      ['2: capped hourly ×1', '3: noCandidates ×0', '4: noCandidates ×0'],
    ],
    [
      'places that the caller chose: each by its own candidate',
      { isFixed: true, slots: 4, candidates: [...creatives('c1', 'c2', 'c2'), 7] },
      ['1: capped hourly ×1', '3: podCapped hourly ×1', '4: invalid ×1'],
    ],
    [
      'a pod that holds nothing',
      { reserve: false, slots: 1, candidates: creatives('c1') },
      ['1: capped hourly ×1'],
    ],
  ])('are told for %s', ([, request, expected]) => {
    const device = createDevice({
      rules: [...hourly, { id: 'never', dimension: 'creative', value: 'bad', limit: 'BLOCK' }],
      views: [seen(NINE, { creativeId: 'c1' })],
    });
    const decision = device.ask(request);
    expect(reasons(decision)).toEqual(expected);
    expect(told(decision).emptySlots).toHaveLength(told(decision).unfilled);
  });

  test('are stored: a retry is told them again, and what an earlier release stored is still read', () => {
    const device = createDevice({ rules: hourly, views: [seen(NINE, { creativeId: 'c1' })] });
    device.ask({ slots: 1, candidates: creatives('c1') });
    expect(reasons(device.ask({ slots: 1, candidates: [] }))).toEqual(['1: capped hourly ×1']);
    const stored = JSON.parse(JSON.stringify(device.stored()));
    delete stored.rounds[1].emptySlots;
    expect(parseStoredPod(JSON.stringify(stored))?.rounds['1']).toMatchObject({ unfilled: 1 });
  });

  test('of a later round are of its own candidates, around what was placed before', () => {
    const rules = [...hourly, { id: 'pod', dimension: 'industry', limit: cap('1/pod') }] as const;
    const device = createDevice({ rules });
    const betting = (creativeId: string) => ({ creativeId, industryIds: ['betting'] });
    expect(reasons(device.ask({ slots: 3, candidates: [betting('c1')] }))).toEqual([
      '2: noCandidates ×0',
      '3: noCandidates ×0',
    ]);
    const second = device.ask({
      round: 2,
      slots: 3,
      candidates: [betting('c2'), betting('c3'), ...creatives('c1')],
    });
    expect(reasons(second)).toEqual([
      '2: podCapped pod ×2, podCapped hourly ×1',
      '3: podCapped pod ×2, podCapped hourly ×1',
    ]);
  });

  test('of a moved break are those of the new instant', () => {
    const device = createDevice({
      rules: hourly,
      views: [seen(NINE - 50 * MINUTE, { creativeId: 'c2' })],
    });
    const candidates = [...creatives('c1', 'c2', 'c1'), timed('c3', 90_000)];
    const slots = [{ maxMs: 30_000 }, { maxMs: 30_000 }, { maxMs: 30_000 }];
    const later = device.ask({ breakAt: NINE, slots, candidates });
    expect(reasons(later)).toEqual([
      '2: capped hourly ×1, podCapped hourly ×1, tooLong ×1',
      '3: capped hourly ×1, podCapped hourly ×1, tooLong ×1',
    ]);
    expect(reasons(device.ask({ breakAt: epochMs(NINE + HOUR), slots, candidates }))).toEqual([
      '2: podCapped hourly ×1, tooLong ×1',
      '3: podCapped hourly ×1, tooLong ×1',
    ]);
  });

  test('of a break that was moved to where its place does not fit name what keeps it out', () => {
    const device = createDevice({
      rules: hourly,
      reservations: [promised(NINE + 2 * HOUR, { creativeId: 'c1' })],
    });
    device.ask({ slots: 2, candidates: creatives('c1', 'c2') });
    const moved = device.ask({
      breakAt: epochMs(NINE + 90 * MINUTE),
      slots: 2,
      candidates: creatives('c1', 'c2'),
    });
    expect(reasons(moved)).toEqual(['1: capped hourly ×1']);
  });

  test('of a device that others decide for at once say so, beside what the rules keep out', () => {
    const rules = [...hourly, { id: 'brand', dimension: 'brand', value: 'b', limit: cap('1/60m') }] as const;
    const knowledge = { views: [seen(NINE, { creativeId: 'c1' })], reservations: [], stored: undefined };
    const ask = askOf({ slots: 2, candidates: creatives('c1', 'c2', 'c3') });
    const quotas = decide({ ...ask, slots: [] }, knowledge, settingOf(rules));
    const { answer } = tellEmpty(ask, quotas, {
      source: 'quotas',
      asOf: null,
      reason: 'contended',
      rulesVersion: 1,
      serverTime: NINE,
    });
    expect(inWords(answer.emptySlots)).toEqual([
      '1: contended ×2, capped hourly ×1',
      '2: contended ×2, capped hourly ×1',
    ]);
  });

  test('are at most ten, those of the most candidates', () => {
    const ids = Array.from({ length: 12 }, (_, index) => `c${index}`);
    const device = createDevice({
      rules: ids.map((id) => ({ id: `r-${id}`, dimension: 'creative', value: id, limit: cap('1/60m') })),
      views: ids.map((creativeId) => seen(NINE, { creativeId })),
    });
    const { emptySlots = [] } = told(device.ask({ slots: 1, candidates: creatives(...ids, 'c11') }));
    expect(emptySlots[0]?.reasons).toHaveLength(10);
    expect(emptySlots[0]?.reasons[0]).toEqual({ reason: 'capped', ruleId: 'r-c11', candidates: 2 });
  });
});
