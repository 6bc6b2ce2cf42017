import { type DimensionSwitches, epochMs, type RuleSet, type SelectionAnswer } from '@adcap/contracts';
import { compileRules } from '@adcap/rule-engine';
import {
  aQuestion,
  askOracle,
  askOracleForPod,
  aWorld,
  type OracleAd,
  type OracleView,
  type OracleWorld,
  WORLD_T,
} from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { expect } from 'vitest';
import { test } from './fixtures.ts';
import { type Selection, startSelection } from './start-selection.ts';

const RUNS = 120;
const NOTHING_OFF: DimensionSwitches = {};

const words = (ad: OracleAd) => ({
  creativeId: ad.creative,
  campaignId: ad.campaign,
  brandId: ad.brand,
  industryIds: [...ad.industries],
});

/** Random worlds lie around a fixed instant; the service answers about the last day. */
const moveViews = (views: readonly OracleView[], byMs: number): OracleView[] =>
  views.map((view) => ({ ...view, at: view.at + byMs }));

const moveRules = (ruleSet: RuleSet, byMs: number): RuleSet => ({
  ...ruleSet,
  rules: ruleSet.rules.map(({ startsAt, endsAt, ...rule }) => ({
    ...rule,
    ...(startsAt === undefined ? {} : { startsAt: epochMs(startsAt + byMs) }),
    ...(endsAt === undefined ? {} : { endsAt: epochMs(endsAt + byMs) }),
  })),
});

/** Has other breaks promised what the world says; without rules everything is granted. */
const promise = async (selection: Selection, deviceId: string, reserved: readonly OracleView[]) => {
  selection.setRules(compileRules({ version: 1, dimensions: NOTHING_OFF, rules: [] }));
  for (const [index, view] of reserved.entries()) {
    // One device is asked about in order.
    // oxlint-disable-next-line no-await-in-loop
    const { status } = await selection.post('/v1/reservations', {
      deviceId,
      breakId: `other-${index}`,
      breakAt: view.at,
      // Long, so that what is promised in the past is live.
      items: [{ ...words(view), durationMs: 7_200_000 }],
    });
    if (status !== 200) throw new Error(`a reservation of the world: ${status}`);
  }
};

const asOracle = ({ candidates }: SelectionAnswer) =>
  candidates.map(({ allowed, remaining, nextAllowedAt, blockedBy }) => ({
    allowed,
    remaining,
    nextAllowedAt,
    blockedBy: allowed || blockedBy?.max === undefined ? undefined : blockedBy.ruleId,
  }));

const oracleSays = (world: OracleWorld, ads: readonly OracleAd[], at: number) =>
  ads.map((ad) => {
    const { allowed, remaining, nextAllowedAt, ruleId } = askOracle(world, ad, at);
    return { allowed, remaining, nextAllowedAt, blockedBy: allowed ? undefined : ruleId };
  });

test('law 12 over HTTP: window, history and the oracle give one answer over random worlds', async ({
  selection,
  watch,
  redisUrl,
  keyPrefix,
}) => {
  const fromHistory = await startSelection({
    redisUrl,
    keyPrefix,
    config: { ADCAP_AD_SELECTION_DECIDE_FROM: 'history' },
  });
  let devices = 0;
  const holds = async (
    fixed: OracleWorld,
    question: { at: number; ads: readonly OracleAd[]; slots: number },
  ) => {
    // Given what a device watched, what other breaks were promised, and rules.
    const byMs = Date.now() - 600_000 - WORLD_T;
    const world = {
      ...fixed,
      ruleSet: moveRules(fixed.ruleSet, byMs),
      watched: moveViews(fixed.watched, byMs),
      reserved: moveViews(fixed.reserved, byMs),
    };
    const at = question.at + byMs;
    devices += 1;
    const deviceId = `device-${devices}`;
    await watch(world.watched.map((view) => ({ ...words(view), deviceId, at: view.at })));
    await promise(selection, deviceId, world.reserved);

    // When both services are asked.
    const ask = {
      deviceId,
      breakId: 'asking',
      breakAt: at,
      slots: question.slots,
      reserve: false,
      context: world.context,
      candidates: question.ads.map((ad) => ({ ...words(ad), exempt: ad.exempt })),
    };
    for (const service of [selection, fromHistory]) service.setRules(compileRules(world.ruleSet));
    const answers = [await selection.select(ask), await fromHistory.select(ask)];

    // Then both say what the oracle says.
    expect(answers.map(({ source, degraded }) => [source, degraded])).toEqual([
      ['quotas', false],
      ['history', false],
    ]);
    const pod = askOracleForPod(world, question.ads, { at, slots: question.slots });
    for (const answer of answers) {
      expect(asOracle(answer)).toEqual(oracleSays(world, question.ads, at));
      const slotOf = new Map(answer.pod.map(({ index, slot }) => [index, slot]));
      expect(question.ads.map((_, index) => slotOf.get(index))).toEqual(pod);
    }
  };
  await fc.assert(fc.asyncProperty(aWorld, aQuestion, holds), { numRuns: RUNS, seed: 12 });
  await fromHistory.close();
});
