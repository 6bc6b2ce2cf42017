import { epochMs } from '@adcap/contracts';
import { expect, test } from 'vitest';
import { reportDevice } from '../../src/domain/device-report.ts';
import { cap, HOUR, keyOf, MINUTE, NINE, promised, rulesOf, seen } from './scene.ts';

const counted = (
  at: number,
  words: Parameters<typeof seen>[1],
  creativeId: string | null = words.creativeId,
) => ({
  ...seen(at, words),
  creativeId,
});

test('the caps of what was watched, each value once, without those that an OFF or a switch ends', () => {
  const watched = [
    { creativeId: 'c1', brandId: 'b1', industryIds: ['i1'] },
    { creativeId: 'c1', brandId: 'b1', industryIds: ['i1'] },
    { creativeId: 'c2', brandId: 'b2', industryIds: [] },
  ];
  const rules = rulesOf([
    { id: 'creative', dimension: 'creative', limit: cap('3/60m') },
    { id: 'brand', dimension: 'brand', limit: cap('2/24h') },
    { id: 'pod', dimension: 'brand', limit: cap('1/pod') },
    { id: 'off', dimension: 'brand', value: 'b2', limit: 'OFF' },
    { id: 'spot', dimension: 'creative', value: 'c2', limit: cap('1/60m') },
    { id: 'shadow', dimension: 'industry', limit: cap('1/60m'), mode: 'shadow' },
    { id: 'market', dimension: 'creative', limit: cap('1/90m'), when: { market: ['dk'] } },
  ]);
  const { caps, ads } = reportDevice(rules, watched, {
    at: NINE,
    keyOf,
    counted: watched.map((words, index) => counted(NINE - index * MINUTE, words)),
    reservations: [promised(NINE + MINUTE, { creativeId: 'c1' })],
  });
  expect(
    caps.map(({ ruleId, value, used, reserved, remaining, at }) => [
      ruleId,
      value,
      used,
      reserved,
      remaining,
      at,
    ]),
  ).toEqual([
    ['creative', 'c1', 2, 1, 0, NINE + MINUTE],
    ['brand', 'b1', 2, 0, 0, NINE],
    ['spot', 'c2', 1, 0, 0, NINE],
  ]);
  expect(caps[1]).toMatchObject({ dimension: 'brand', max: 2, windowMs: 24 * HOUR });
  expect(ads).toMatchObject([
    { creativeId: 'c1', brandId: 'b1', allowed: false, remaining: 0 },
    { creativeId: 'c2', allowed: false, nextAllowedAt: NINE - 2 * MINUTE + HOUR },
  ]);
  const fates = ads.map((ad) =>
    ad.rules.map(({ ruleId, fate, because }) => [ruleId, fate, because].filter(Boolean).join(' ')),
  );
  expect(fates).toEqual([
    ['creative applies', 'market when_does_not_fit', 'brand applies', 'pod applies', 'shadow shadow'],
    [
      'spot applies',
      'off applies',
      'creative ended off',
      'market when_does_not_fit',
      'brand ended off',
      'pod ended off',
    ],
  ]);
});

test('each cap tells the impressions and the reservations that count, at the edges of its window', () => {
  const rules = rulesOf([{ id: 'brand', dimension: 'brand', limit: cap('9/60m') }]);
  const ad = { creativeId: 'c1', brandId: 'b1', industryIds: [] };
  const other = { ...ad, creativeId: 'c2' };
  const { caps } = reportDevice(rules, [ad], {
    at: NINE,
    keyOf,
    counted: [
      counted(NINE - HOUR, ad),
      counted(NINE - HOUR + 1, other),
      counted(NINE - MINUTE, { ...ad, brandId: 'another' }),
      counted(NINE, ad, null),
      counted(NINE + 1, ad),
    ],
    reservations: [
      promised(NINE - MINUTE, ad),
      promised(NINE - HOUR, ad),
      promised(NINE, { creativeId: 'c1' }),
    ],
  });
  expect(caps).toMatchObject([
    {
      used: 2,
      reserved: 1,
      impressions: [
        { at: NINE - HOUR + 1, creativeId: 'c2' },
        { at: NINE, creativeId: null },
      ],
      reservations: [{ slot: 1, breakAt: epochMs(NINE - MINUTE) }],
    },
  ]);
  expect(caps[0]?.impressions).toHaveLength(2);
  expect(caps[0]?.reservations).toHaveLength(1);
});
