import { createTimeline } from '@adcap/rule-engine';
import { expect, test } from 'vitest';
import { reportCaps } from '../../src/domain/device-report.ts';
import { cap, HOUR, keyOf, MINUTE, NINE, promised, rulesOf, seen } from './scene.ts';

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
  ]);
  const known = {
    watched: createTimeline(watched.map((words, index) => seen(NINE - index * MINUTE, words))),
    reserved: createTimeline([promised(NINE + MINUTE, { creativeId: 'c1' })]),
  };
  const reports = reportCaps(rules, watched, { at: NINE, known, keyOf });
  expect(
    reports.map(({ ruleId, value, used, reserved, remaining, at }) => [
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
  expect(reports[1]).toMatchObject({ dimension: 'brand', max: 2, windowMs: 24 * HOUR });
});
