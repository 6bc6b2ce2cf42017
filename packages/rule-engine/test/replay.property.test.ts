import { epochMs, valueKey } from '@adcap/contracts';
import { compileRules, createReplay } from '@adcap/rule-engine';
import {
  askOracle,
  aWorld,
  type KeyOf,
  type OracleView,
  type OracleWorld,
  toEngineAd,
} from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const NAMES = ['c1', 'c2', 'c3', 'k1', 'k2', 'b1.example', 'b2.example', 'i1', 'i2', 'i3'];
const keyOf: KeyOf = (value) => valueKey(NAMES.indexOf(value) + 1);

type Told = { isBlocked: boolean; ruleId: string | undefined };

/** Each impression asked for at its own instant, after those before it that were allowed. */
const askOracleInTurn = (world: OracleWorld, past: readonly OracleView[]): Told[] => {
  const watched: OracleView[] = [];
  return past.map((view) => {
    const { allowed, ruleId, remaining } = askOracle({ ...world, watched }, view, view.at);
    if (allowed) watched.push(view);
    // The oracle names no rule for a BLOCK, and the cap that binds also where it leaves room.
    return { isBlocked: !allowed, ruleId: remaining === 0 ? ruleId : undefined };
  });
};

test('a replay answers impression by impression what the naive oracle answers', () => {
  fc.assert(
    fc.property(aWorld, (drawn) => {
      // A history knows neither contexts nor what was promised.
      const world: OracleWorld = { ...drawn, context: {}, reserved: [] };
      const past = world.watched.toSorted((a, b) => a.at - b.at);
      const replay = createReplay(compileRules(world.ruleSet));
      const isBlock = new Set(
        world.ruleSet.rules.filter(({ limit }) => limit === 'BLOCK').map(({ id }) => id),
      );
      const told = past.map((view): Told => {
        const rule = replay.watch({ ad: toEngineAd(view, keyOf), at: epochMs(view.at) });
        const isNamed = rule !== undefined && !isBlock.has(rule.id);
        return { isBlocked: rule !== undefined, ruleId: isNamed ? rule.id : undefined };
      });
      expect(told).toEqual(askOracleInTurn(world, past));
    }),
    { numRuns: 5_000 },
  );
});
