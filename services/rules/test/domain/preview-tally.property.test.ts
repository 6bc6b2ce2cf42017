import { epochMs } from '@adcap/contracts';
import { compileRules } from '@adcap/rule-engine';
import {
  aRuleSetOf,
  askOracle,
  aWorld,
  type OracleView,
  type OracleWorld,
  toEngineAd,
} from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPreviewTally } from '../../src/domain/preview-tally.ts';
import { keyOf } from './support.ts';

/** Which of a device's impressions a rule set would have blocked, by the naive writing of the laws. */
const blockedBy = (ruleSet: OracleWorld['ruleSet'], past: readonly OracleView[]): boolean[] => {
  const watched: OracleView[] = [];
  return past.map((view) => {
    const { allowed } = askOracle({ ruleSet, watched, reserved: [], context: {} }, view, view.at);
    if (allowed) watched.push(view);
    return !allowed;
  });
};

test('the figures are those that the naive oracle counts, under the draft and under the rules in force', () => {
  fc.assert(
    fc.property(fc.array(aWorld, { maxLength: 4 }), aRuleSetOf, aRuleSetOf, (worlds, draft, inForce) => {
      const tally = createPreviewTally({
        draft: compileRules(draft),
        inForce: compileRules(inForce),
        sinceMs: 0,
      });
      const pasts = worlds.map(({ watched }) => watched.toSorted((a, b) => a.at - b.at));
      for (const past of pasts)
        tally.add(past.map((view) => ({ ad: toEngineAd(view, keyOf), at: epochMs(view.at) })));
      const both = pasts.map((past) => {
        const now = blockedBy(inForce, past);
        return blockedBy(draft, past).map((isThen, index) => ({ isThen, isNow: now[index] === true }));
      });
      const count = (is: (one: { isThen: boolean; isNow: boolean }) => boolean): number =>
        both.flat().filter(is).length;
      const figures = tally.figures();
      expect(figures).toMatchObject({
        impressions: both.flat().length,
        blocked: count(({ isThen }) => isThen),
        blockedNow: count(({ isNow }) => isNow),
        newlyBlocked: count(({ isThen, isNow }) => isThen && !isNow),
        newlyAllowed: count(({ isThen, isNow }) => !isThen && isNow),
        sampled: worlds.length,
        devices: both.filter((device) => device.some(({ isThen }) => isThen)).length,
      });
      expect(figures.byRule.reduce((sum, { blocked }) => sum + blocked, 0)).toBe(figures.blocked);
      expect(figures.byRule.reduce((sum, { newlyBlocked }) => sum + newlyBlocked, 0)).toBe(
        figures.newlyBlocked,
      );
    }),
    { numRuns: 1_000 },
  );
});
