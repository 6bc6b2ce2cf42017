import { valueKey } from '@adcap/contracts';
import { compileRules } from '@adcap/rule-engine';
import {
  aQuestion,
  askEngine,
  askOracle,
  askOracleForPod,
  aWorld,
  type KeyOf,
  toEngineAd,
  toEngineView,
} from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const NAMES = ['c1', 'c2', 'c3', 'k1', 'k2', 'b1.example', 'b2.example', 'i1', 'i2', 'i3'];
const keyOf: KeyOf = (value) => valueKey(NAMES.indexOf(value) + 1);

test('the engine answers what the naive oracle answers, ad by ad and pod by pod', () => {
  fc.assert(
    fc.property(aWorld, aQuestion, (world, { ads, at, slots }) => {
      const { answers, pod } = askEngine(
        compileRules(world.ruleSet),
        {
          context: world.context,
          watched: world.watched.map((view) => toEngineView(view, keyOf)),
          reserved: world.reserved.map((view) => toEngineView(view, keyOf)),
        },
        { ads: ads.map((ad) => toEngineAd(ad, keyOf)), at, slots },
      );
      expect(answers).toEqual(ads.map((ad) => askOracle(world, ad, at)));
      expect(pod).toEqual(askOracleForPod(world, ads, { at, slots }));
    }),
    { numRuns: 5_000 },
  );
});
