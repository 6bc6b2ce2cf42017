import type { Rule } from '@adcap/contracts';
import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';
import { rulesOf } from './start-selection.ts';

const cap = (max: number, window: string) => ({ max, window });

/** The lines of the service's own series, without their values. */
const seriesOf = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('adcap_ad_selection_'))
    .map((line) => line.slice(0, line.lastIndexOf(' ')));

const ruleLines = (text: string): string[] =>
  text.split('\n').filter((line) => line.startsWith('adcap_ad_selection_rule_'));

describe('metrics', () => {
  test('tell of each rule what it did, of exempt candidates and of empty slots; a repeat adds nothing', async ({
    selection,
    watch,
  }) => {
    selection.setRules(
      rulesOf([
        { id: 'hourly', dimension: 'creative', limit: cap(2, '60m') },
        { id: 'pod', dimension: 'brand', limit: cap(1, 'pod') },
        { id: 'shadow', dimension: 'creative', limit: cap(1, '60m'), mode: 'shadow' },
      ]),
    );
    const now = Date.now();
    await watch([now - 2_000, now - 1_000].map((at) => ({ at })));
    await watch([{ at: now - 1_000, creativeId: 'c2' }]);
    const body = {
      deviceId: 'd1',
      breakId: 'b',
      breakAt: now,
      slots: 5,
      candidates: [
        { creativeId: 'c1' },
        { creativeId: 'c2', brandId: 'x' },
        { creativeId: 'c3', brandId: 'x' },
        { creativeId: 'slate', exempt: true },
      ],
    };
    await selection.select(body);
    await selection.select(body);
    const text = await selection.registry.metrics();
    for (const line of [
      'rule_evaluated_total{rule="hourly"} 3',
      'rule_near_total{rule="hourly"} 1',
      'rule_blocked_total{rule="hourly"} 1',
      'rule_evaluated_total{rule="pod"} 2',
      'rule_blocked_total{rule="pod"} 1',
      'rule_evaluated_total{rule="shadow"} 4',
      'rule_shadow_blocked_total{rule="shadow"} 2',
      'rule_blocked_total{rule="shadow"} 0',
      'exempt_candidates_total 1',
      'candidates_total{outcome="placed"} 2',
      'unfilled_slots_total{reason="capped"} 2',
      'unfilled_slots_total{reason="noCandidates"} 1',
      'decisions_total{source="quotas"} 2',
    ])
      expect(text).toContain(`adcap_ad_selection_${line}\n`);
  });

  test('B63 series do not grow with devices, creatives and rule sets; a rule that is gone has none', async ({
    selection,
  }) => {
    const ruleSet = (turn: number): (Omit<Rule, 'id'> & { id?: string })[] => [
      { id: 'stays', dimension: 'creative', limit: cap(3, '60m') },
      { id: `turn-${turn}`, dimension: 'brand', limit: cap(1 + (turn % 3), '60m') },
    ];
    const breakAt = Date.now();
    let devices = 0;
    const decide = async (turn: number) => {
      selection.setRules(rulesOf(ruleSet(turn), turn));
      await Promise.all(
        Array.from({ length: 20 }, () => {
          devices += 1;
          return selection.select({
            deviceId: `device-${devices}`,
            breakId: 'b',
            breakAt,
            slots: 2,
            candidates: Array.from({ length: 8 }, (_, index) => ({
              creativeId: `creative-${(devices * 8 + index) % 200}`,
              brandId: 'brand',
            })),
          });
        }),
      );
    };
    let before: string[] = [];
    for (let turn = 1; turn <= 25; turn += 1) {
      // One rule set after the other.
      // oxlint-disable-next-line no-await-in-loop
      await decide(turn);
      // Each of the three sets has been in force.
      // oxlint-disable-next-line no-await-in-loop
      if (turn === 3) before = seriesOf(await selection.registry.metrics());
    }
    const text = await selection.registry.metrics();
    expect([devices, seriesOf(text).length]).toEqual([500, before.length]);
    expect(ruleLines(text)).toContain('adcap_ad_selection_rule_evaluated_total{rule="stays"} 4000');
    expect(ruleLines(text)).toContain('adcap_ad_selection_rule_evaluated_total{rule="turn-25"} 160');
    expect(text).not.toMatch(/turn-(?!25)|creative-|device-/);
    selection.setRules(undefined);
    expect(ruleLines(await selection.registry.metrics())).toEqual([]);
  });
});
