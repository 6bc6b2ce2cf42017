import { epochMs, fingerprint, type ImpressionEvent } from '@adcap/contracts';
import { valueKeyOf } from '@adcap/identity';
import { compileRules, type Reservation, type View } from '@adcap/rule-engine';
import {
  aQuestion,
  askEngine,
  askOracle,
  askOracleForPod,
  aWorld,
  type OracleWorld,
  toEngineAd,
  WORLD_T,
} from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeHistoryRecord, encodeHistoryRecord, viewOfHistoryRecord } from '../src/history-record.ts';
import { decodeReservations, encodeReservation } from '../src/reservation-member.ts';
import { decodeViews, encodeWindowMember, viewOfImpression } from '../src/window-member.ts';
import { eventsOf, reservationsOf } from './world-events.ts';

/** What a decision reads of `w`: one blob of members later than the longest window. */
const throughWindow = (events: readonly ImpressionEvent[], since: number): View[] =>
  decodeViews(
    Buffer.concat(
      events
        .filter(({ at }) => at > since)
        .toSorted((a, b) => a.at - b.at)
        .map((event) =>
          encodeWindowMember({
            ...viewOfImpression(event),
            at: epochMs(event.at),
            fingerprint: fingerprint(event.fingerprint),
          }),
        ),
    ),
  );

/** What a decision reads of `h`, record by record. */
const throughHistory = (events: readonly ImpressionEvent[], since: number): View[] =>
  events
    .filter(({ at }) => at > since)
    .map((event) => viewOfHistoryRecord(decodeHistoryRecord(encodeHistoryRecord(event))));

const throughReservations = (world: OracleWorld): Reservation[] =>
  decodeReservations(Buffer.concat(reservationsOf(world, WORLD_T + 60_000).map(encodeReservation)));

test('law 12: windows, history and the naive oracle give the same answer at any instant under any rules', () => {
  fc.assert(
    fc.property(aWorld, aQuestion, (world, { ads, at, slots }) => {
      const rules = compileRules(world.ruleSet);
      const events = eventsOf(world);
      const since = at - rules.longestWindowMs;
      const question = { ads: ads.map((ad) => toEngineAd(ad, valueKeyOf)), at, slots };
      const known = { context: world.context, reserved: throughReservations(world) };

      const fromWindow = askEngine(rules, { ...known, watched: throughWindow(events, since) }, question);
      const fromHistory = askEngine(rules, { ...known, watched: throughHistory(events, since) }, question);
      const fromOracle = {
        answers: ads.map((ad) => askOracle(world, ad, at)),
        pod: askOracleForPod(world, ads, { at, slots }),
      };

      expect(fromWindow).toEqual(fromOracle);
      expect(fromHistory).toEqual(fromOracle);
    }),
    { numRuns: 20_000 },
  );
});
