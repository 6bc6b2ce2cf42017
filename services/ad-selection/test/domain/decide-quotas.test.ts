import { describe, expect, test } from 'vitest';
import { cap, createDevice, creatives, HOUR, MINUTE, NINE, outcomes, promised, seen, told } from './scene.ts';

const ad = { creativeId: 'c1', brandId: 'b1', industryIds: ['i1'] };

describe('the ladder as the caller is told it', () => {
  const generic = [
    { id: 'creative', dimension: 'creative', limit: cap('3/60m') },
    { id: 'brand', dimension: 'brand', limit: cap('5/120m') },
    { id: 'industry', dimension: 'industry', limit: cap('5/120m') },
  ] as const;
  const views = [
    seen(NINE - MINUTE, ad),
    ...[1, 2, 3, 4].map((n) => seen(NINE - n * MINUTE, { ...ad, creativeId: `o${n}` })),
  ];
  const specific = { id: 'spot', dimension: 'creative', value: 'c1' } as const;

  test.for([
    ['B15 a full brand decides and is named', [], { remaining: 0, by: 'brand' }],
    [
      'B15 brand OFF frees from brand, industry and generic creative',
      [{ id: 'off', dimension: 'brand', value: 'b1', limit: 'OFF' }],
      { remaining: null, by: undefined },
    ],
    [
      'B15 a specific creative cap holds over brand OFF',
      [
        { id: 'off', dimension: 'brand', value: 'b1', limit: 'OFF' },
        { ...specific, limit: cap('1/60m') },
      ],
      { remaining: 0, by: 'spot' },
    ],
    [
      'B15 a specific creative cap does not lift a full brand',
      [{ ...specific, limit: cap('10/60m') }],
      { remaining: 0, by: 'brand' },
    ],
    [
      'B15 the same cap marked final does',
      [{ ...specific, limit: cap('10/60m'), final: true }],
      { remaining: 9, by: undefined },
    ],
  ] as const)('%s', ([, extra, expected]) => {
    const [candidate] = told(
      createDevice({ rules: [...generic, ...extra], views }).ask({ candidates: [ad] }),
    ).candidates;
    expect({ remaining: candidate?.remaining, by: candidate?.blockedBy?.ruleId }).toEqual(expected);
  });

  test('B16 the campaign at view time counts, whatever the request says now', () => {
    const device = createDevice({
      rules: [{ dimension: 'campaign', value: 'k1', limit: cap('2/60m') }],
      views: ['c1', 'c2'].map((creativeId) => seen(NINE - MINUTE, { creativeId, campaignId: 'k1' })),
    });
    const candidates = [
      { creativeId: 'c1', campaignId: 'k1' },
      { creativeId: 'c2', campaignId: 'k1' },
      { creativeId: 'c2', campaignId: 'k2' },
    ];
    expect(told(device.ask({ candidates })).candidates.map(({ remaining }) => remaining)).toEqual([
      0,
      0,
      null,
    ]);
  });

  test('a BLOCK is named without numbers, leaves nothing and never lets go', () => {
    const device = createDevice({
      rules: [{ id: 'never', dimension: 'brand', value: 'b1', limit: 'BLOCK' }, ...generic],
      views,
    });
    const blocked = { allowed: false, outcome: 'capped', remaining: 0, creativeId: 'c1' };
    const blockedBy = { ruleId: 'never', dimension: 'brand', value: 'b1' };
    expect(told(device.ask({ slots: 2, candidates: [ad, { ...ad, exempt: true }] })).candidates).toEqual([
      { index: 0, ...blocked, blockedBy },
      { index: 1, ...blocked, blockedBy },
    ]);
  });

  test('a cap has the figures of the instant that decides, and names it where that is not the break’s', () => {
    const rules = [{ id: 'hourly', dimension: 'creative', limit: cap('1/60m') }] as const;
    const figures = { ruleId: 'hourly', dimension: 'creative', value: 'c1', max: 1, windowMs: HOUR };
    const later = createDevice({ rules, reservations: [promised(NINE + MINUTE, ad)] });
    expect(told(later.ask({ candidates: [ad] })).candidates[0]).toMatchObject({
      blockedBy: { ...figures, used: 0, reserved: 1, at: NINE + MINUTE },
      nextAllowedAt: NINE + MINUTE + HOUR,
    });
    const now = createDevice({ rules, views: [seen(NINE, ad)] });
    expect(told(now.ask({ candidates: [ad] })).candidates[0]?.blockedBy).toEqual({
      ...figures,
      used: 1,
      reserved: 0,
    });
  });
});

describe('candidates', () => {
  test('a bad one is invalid by its field and harms nobody else', () => {
    const device = createDevice({ rules: [{ dimension: 'creative', limit: cap('2/60m') }] });
    const candidates = [
      { creativeId: '[CID]' },
      { creativeId: 'c1' },
      7,
      { creativeId: 'c2', exempt: 'yes' },
    ];
    const { candidates: answers } = told(device.ask({ slots: 4, candidates }));
    expect(answers).toMatchObject([
      { index: 0, creativeId: '[CID]', outcome: 'invalid', allowed: false, remaining: null },
      { index: 1, creativeId: 'c1', outcome: 'placed', allowed: true, remaining: 2 },
      { index: 2, creativeId: null, outcome: 'invalid' },
      { index: 3, creativeId: 'c2', outcome: 'invalid', error: { field: 'exempt' } },
    ]);
    expect(answers[0]?.error).toEqual({ field: 'creativeId', message: 'is empty or an unfilled macro' });
  });

  test.for([
    [0, ['exempt', 'allowed']],
    [1, ['placed', 'noSlot']],
    [2, ['placed', 'placed']],
  ] as const)('with %i slots an exempt and a free ad are %j', ([slots, expected]) => {
    const candidates = [{ creativeId: 'slate', exempt: true }, { creativeId: 'c1' }];
    expect(outcomes(createDevice({}).ask({ slots, candidates }))).toEqual(expected);
  });

  test('an exempt ad is placed whatever was watched, and noSlot where nothing is left', () => {
    const device = createDevice({
      rules: [{ dimension: 'creative', limit: cap('1/60m') }],
      views: [seen(NINE, { creativeId: 'slate' })],
    });
    const slate = { creativeId: 'slate', exempt: true };
    expect(outcomes(device.ask({ slots: 1, candidates: [slate, slate] }))).toEqual(['placed', 'noSlot']);
    expect(device.held()).toEqual([]);
  });

  test('only quotas: nothing is filled and nothing written', () => {
    const device = createDevice({ rules: [{ dimension: 'creative', limit: cap('2/60m') }] });
    const decision = device.ask({ candidates: creatives('c1') });
    expect(decision).toMatchObject({
      kind: 'decided',
      writing: undefined,
      decided: { pod: [], unfilled: 0 },
    });
  });
});
