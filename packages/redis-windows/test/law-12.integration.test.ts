import { epochMs, type RuleSet } from '@adcap/contracts';
import { breakKeyOf, valueKeyOf } from '@adcap/identity';
import { compileRules } from '@adcap/rule-engine';
import {
  aQuestion,
  askEngine,
  askOracle,
  askOracleForPod,
  aWorld,
  type OracleView,
  type OracleWorld,
  toEngineAd,
  WORLD_T,
} from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { expect } from 'vitest';
import { apply, historyViews, test } from './stores.ts';
import { eventsOf, reservationsOf } from './world-events.ts';

/** Random worlds lie around a fixed instant; the store knows only those of the last day. */
const moveViews = (views: readonly OracleView[], byMs: number): OracleView[] =>
  views.map((view) => ({ ...view, at: view.at + byMs }));

const moveRules = (ruleSet: RuleSet, byMs: number): RuleSet => ({
  ...ruleSet,
  rules: ruleSet.rules.map((rule) => ({
    ...rule,
    ...(rule.startsAt === undefined ? {} : { startsAt: epochMs(rule.startsAt + byMs) }),
    ...(rule.endsAt === undefined ? {} : { endsAt: epochMs(rule.endsAt + byMs) }),
  })),
});

const move = (world: OracleWorld, byMs: number): OracleWorld => ({
  ...world,
  ruleSet: moveRules(world.ruleSet, byMs),
  watched: moveViews(world.watched, byMs),
  reserved: moveViews(world.reserved, byMs),
});

test('law 12: what Redis holds gives the oracle’s answer, from the window and from the history', async ({
  stores,
}) => {
  let devices = 0;
  await fc.assert(
    fc.asyncProperty(aWorld, aQuestion, async (fixedWorld, question) => {
      const byMs = Date.now() - 600_000 - WORLD_T;
      const world = move(fixedWorld, byMs);
      const at = question.at + byMs;
      devices += 1;
      const deviceId = `device-${devices}`;
      const breakKey = breakKeyOf(undefined, 'asking');
      const rules = compileRules(world.ruleSet);

      // Given the impressions, told twice, and the reservations of other breaks.
      const events = eventsOf(world, deviceId);
      for (const writer of [stores.window, stores.history]) {
        await apply(writer, stores.connection, events);
        await apply(writer, stores.connection, events.toReversed());
      }
      await stores.decisions.commit({
        deviceId,
        breakKey,
        expectedVersion: 0,
        notAfterMs: Date.now() + 60_000,
        remove: [],
        add: reservationsOf(world, Date.now() + 60_000),
        storedPod: '{}',
        podExpiresAtMs: Date.now() + 60_000,
      });

      // When it is read back as a decision reads it.
      const sinceMs = at - rules.longestWindowMs;
      const reading = await stores.decisions.read({ deviceId, breakKey, sinceMs });
      const history = await historyViews(stores, { deviceId, sinceMs });
      const both = await stores.decisions.read({ deviceId, breakKey, sinceMs, from: 'both' });

      // Then every source gives the oracle's answer.
      const asked = { ads: question.ads.map((ad) => toEngineAd(ad, valueKeyOf)), at, slots: question.slots };
      const answers = [reading.views, history, both.views].map((watched) =>
        askEngine(rules, { context: world.context, reserved: reading.reservations, watched }, asked),
      );
      const expected = {
        answers: question.ads.map((ad) => askOracle(world, ad, at)),
        pod: askOracleForPod(world, question.ads, { at, slots: question.slots }),
      };
      expect(reading.isComplete).toBe(true);
      expect(answers).toEqual([expected, expected, expected]);
    }),
    { numRuns: 300 },
  );
});
