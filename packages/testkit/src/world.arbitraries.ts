import { type DimensionSwitches, epochMs, type Rule, type RuleSet } from '@adcap/contracts';
import { parseRuleSet } from '@adcap/rule-engine';
import fc from 'fast-check';
import type { OracleAd, OracleView, OracleWorld } from './naive-oracle.ts';

/** A whole-millisecond instant that random worlds are built around. */
export const WORLD_T = epochMs(1_764_500_000_000);

const CREATIVES = ['c1', 'c2', 'c3'];
const CAMPAIGNS = ['k1', 'k2'];
const BRANDS = ['b1.example', 'b2.example'];
const INDUSTRIES = ['i1', 'i2', 'i3'];
const WINDOWS = ['1s', '2s', '5s', '1m', '90s', 'pod'];
/** Distances that put an impression at, before and after the edge of each window. */
const EDGES_MS = [0, 1_000, 2_000, 3_000, 5_000, 60_000, 90_000];

export const anAdOf: fc.Arbitrary<OracleAd> = fc.record({
  creative: fc.constantFrom(...CREATIVES),
  campaign: fc.option(fc.constantFrom(...CAMPAIGNS), { nil: undefined }),
  brand: fc.option(fc.constantFrom(...BRANDS), { nil: undefined }),
  industries: fc.uniqueArray(fc.constantFrom(...INDUSTRIES), { maxLength: 3 }),
});

const nudge = fc.constantFrom(-1, 0, 0, 1);

const anInstant = (directions: readonly number[]): fc.Arbitrary<number> =>
  fc
    .tuple(fc.constantFrom(...EDGES_MS), nudge, fc.constantFrom(...directions), fc.nat({ max: 3 }))
    .map(([edge, off, direction, spread]) => WORLD_T + direction * edge + off + spread * direction * 500);

const aView = (directions: readonly number[]): fc.Arbitrary<OracleView> =>
  fc.tuple(anAdOf, anInstant(directions)).map(([ad, at]) => ({ ...ad, at }));

const valueOf = (dimension: Rule['dimension']): fc.Arbitrary<string> =>
  fc.constantFrom(
    ...{ creative: CREATIVES, campaign: CAMPAIGNS, brand: BRANDS, industry: INDUSTRIES }[dimension],
  );

const aCap = fc.record({ max: fc.integer({ min: 1, max: 4 }), window: fc.constantFrom(...WINDOWS) });

const maybe = <T>(value: fc.Arbitrary<T>, freq = 4): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq });

const aRuleShape = fc.record({
  dimension: fc.constantFrom('creative', 'campaign', 'brand', 'industry'),
  cap: aCap,
  specific: fc.boolean(),
  kind: fc.constantFrom('cap', 'cap', 'cap', 'cap', 'OFF', 'OFF', 'BLOCK'),
  final: fc.boolean(),
  market: maybe(fc.constantFrom('dk', 'se'), 5),
  shadow: fc.constantFrom(false, false, false, true),
  enabled: fc.constantFrom(true, true, true, true, false),
  startsAt: maybe(anInstant([-1, 1]), 6),
  endsAt: maybe(anInstant([1]), 6),
});

const aRule = (index: number): fc.Arbitrary<Rule> =>
  aRuleShape.chain((shape) =>
    valueOf(shape.dimension).map((value): Rule => {
      const limit = shape.kind === 'cap' ? shape.cap : shape.specific ? shape.kind : shape.cap;
      return {
        id: `r${index}`,
        dimension: shape.dimension,
        ...(shape.specific ? { value } : {}),
        limit,
        ...(shape.specific && shape.final && typeof limit !== 'string' ? { final: true } : {}),
        ...(shape.market === undefined ? {} : { when: { market: [shape.market] } }),
        ...(shape.shadow ? { mode: 'shadow' as const } : {}),
        ...(shape.enabled ? {} : { enabled: false }),
        ...(shape.startsAt === undefined ? {} : { startsAt: epochMs(shape.startsAt) }),
        ...(shape.endsAt === undefined ? {} : { endsAt: epochMs(shape.endsAt) }),
      };
    }),
  );

const aSwitch = fc.constantFrom('on', 'on', 'on', 'on', 'on', 'off');
const switches: fc.Arbitrary<DimensionSwitches> = fc.record({
  creative: aSwitch,
  campaign: aSwitch,
  brand: aSwitch,
  industry: aSwitch,
});

/** Rules that contradict each other are taken out until the rest is a valid set (law 4). */
const onlyValid = (draft: Omit<RuleSet, 'version'>): RuleSet => {
  let { rules } = draft;
  for (;;) {
    const parsed = parseRuleSet({ dimensions: draft.dimensions, rules }, { retentionMs: 86_400_000 });
    if (parsed.ok) return { version: 1, ...parsed.draft };
    const wrong = new Set(parsed.errors.map(({ ruleId }) => ruleId));
    rules = rules.filter(({ id }) => !wrong.has(id));
  }
};

export const aRuleSetOf: fc.Arbitrary<RuleSet> = fc
  .tuple(switches, fc.integer({ min: 0, max: 10 }))
  .chain(([dimensions, size]) =>
    fc
      .tuple(...Array.from({ length: size }, (_, index) => aRule(index)))
      .map((rules) => onlyValid({ dimensions, rules })),
  );

/** A device's past (and what is known of its future), other breaks' reservations, rules and a context. */
export const aWorld: fc.Arbitrary<OracleWorld> = fc.record({
  ruleSet: aRuleSetOf,
  watched: fc.array(aView([-1, -1, -1, 1]), { maxLength: 14 }),
  reserved: fc.array(aView([-1, 1, 1]), { maxLength: 6 }),
  context: fc.constantFrom<OracleWorld['context']>({}, { market: 'dk' }, { market: ['se', 'no'] }),
});

/** A question to ask of a world: candidates of which some are exempt, a pod, an instant near the edges. */
export const aQuestion = fc.record({
  at: anInstant([-1, 1]).map((at) => epochMs(at)),
  ads: fc.array(
    fc
      .tuple(anAdOf, fc.constantFrom(false, false, false, false, true))
      .map(([ad, exempt]) => ({ ...ad, exempt })),
    { minLength: 1, maxLength: 5 },
  ),
  slots: fc.integer({ min: 1, max: 4 }),
});

/** Lengths around those of the slots; none counts as 30 s. */
const aDuration = fc.constantFrom(undefined, 5_000, 14_999.5, 15_000, 15_001, 20_000, 30_000, 60_000);

/** A pod that is filled by seconds, some of its slots filled by an earlier round and some of those watched. */
export const aTimedPod = fc.record({
  at: anInstant([-1, 1]).map((at) => epochMs(at)),
  ads: fc.array(
    fc
      .tuple(anAdOf, fc.constantFrom(false, false, false, true), aDuration)
      .map(([ad, exempt, durationMs]) => ({ ...ad, exempt, durationMs })),
    { minLength: 1, maxLength: 8 },
  ),
  slots: fc.array(fc.record({ maxMs: fc.constantFrom(undefined, undefined, 10_000, 15_000, 30_000) }), {
    minLength: 1,
    maxLength: 5,
  }),
  podDurationMs: fc.constantFrom(undefined, undefined, 29_999.5, 45_000, 60_000, 120_000),
  earlier: fc.uniqueArray(
    fc.record({
      slot: fc.integer({ min: 1, max: 5 }),
      ad: fc.tuple(anAdOf, aDuration).map(([ad, durationMs]) => ({ ...ad, durationMs })),
      watched: fc.boolean(),
    }),
    { selector: ({ slot }) => slot, maxLength: 2 },
  ),
});
