import { valueKey } from '@adcap/contracts';
import { compileRules, durationOf } from '@adcap/rule-engine';
import {
  askEngine,
  askOracleForPod,
  aTimedPod,
  aWorld,
  type KeyOf,
  type OraclePlace,
  type OracleWorld,
  toEngineAd,
  toEngineView,
} from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const NAMES = ['c1', 'c2', 'c3', 'k1', 'k2', 'b1.example', 'b2.example', 'i1', 'i2', 'i3'];
const keyOf: KeyOf = (value) => valueKey(NAMES.indexOf(value) + 1);

type Question = typeof aTimedPod extends fc.Arbitrary<infer Value> ? Value : never;

/** What was watched of the earlier rounds was watched at the break. */
const withEarlier = (world: OracleWorld, { at, earlier }: Question): OracleWorld => ({
  ...world,
  watched: [
    ...world.watched,
    ...earlier.filter(({ watched }) => watched).map((place) => ({ ...place.ad, at })),
  ],
});

const placesOf = ({ earlier, slots }: Question): readonly OraclePlace[] =>
  earlier.filter(({ slot }) => slot <= slots.length);

const engineFills = (world: OracleWorld, question: Question) =>
  askEngine(
    compileRules(world.ruleSet),
    {
      context: world.context,
      watched: world.watched.map((view) => toEngineView(view, keyOf)),
      reserved: world.reserved.map((view) => toEngineView(view, keyOf)),
    },
    {
      ...question,
      ads: question.ads.map((ad) => toEngineAd(ad, keyOf)),
      kept: placesOf(question).map((place) => ({ ...place, ad: toEngineAd(place.ad, keyOf) })),
    },
  ).pod;

test('a pod by seconds, over rounds, is filled as the naive oracle fills it', () => {
  fc.assert(
    fc.property(aWorld, aTimedPod, (random, question) => {
      const world = withEarlier(random, question);
      const slots = engineFills(world, question);
      expect(slots).toEqual(askOracleForPod(world, question.ads, { ...question, kept: placesOf(question) }));

      // Of two ads the one that the ad server prefers, and that is no longer, never comes after the other.
      for (const [index, slot] of slots.entries()) {
        const later = slots.filter(
          (_, other) =>
            other > index && durationOf(question.ads[index] ?? {}) <= durationOf(question.ads[other] ?? {}),
        );
        expect(later.every((other) => slot === undefined || other === undefined || slot < other)).toBe(true);
      }
    }),
    { numRuns: 5_000 },
  );
});
