import { type EpochMs, epochMs, parseWindowMs, type Rule, type RuleSet, valueKey } from '@adcap/contracts';
import { compileRules, parseRuleSet, warnRuleSet } from '@adcap/rule-engine';
import { aQuestion, askEngine, aWorld, type KeyOf, toEngineAd, toEngineView } from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const NAMES = ['c1', 'c2', 'c3', 'k1', 'k2', 'b1.example', 'b2.example', 'i1', 'i2', 'i3'];
const keyOf: KeyOf = (value) => valueKey(NAMES.indexOf(value) + 1);

type World = typeof aWorld extends fc.Arbitrary<infer T> ? T : never;
type Question = typeof aQuestion extends fc.Arbitrary<infer T> ? T : never;

/** Rules of random worlds seldom meet; here every specific one is about one spot, and every generic one about brands. */
const aCrowdedWorld: fc.Arbitrary<World> = aWorld.map((world) => {
  const { ruleSet } = world;
  let rules = ruleSet.rules.map((rule, index): Rule => {
    if (rule.value === undefined) return { ...rule, dimension: 'brand' };
    const spot = { ...rule, dimension: 'creative' as const, value: 'c1' };
    if (index % 2 === 0) return spot;
    // OFF everywhere beside a cap somewhere: everywhere they may not stand beside each other.
    const { when: _, startsAt: _s, endsAt: _e, ...always } = spot;
    return typeof rule.limit === 'string' ? always : { ...spot, when: { market: ['dk'] } };
  });
  for (;;) {
    const parsed = parseRuleSet({ rules }, { retentionMs: 86_400_000 });
    if (parsed.ok) return { ...world, ruleSet: { ...ruleSet, rules } };
    const wrong = new Set(parsed.errors.map(({ ruleId }) => ruleId));
    rules = rules.filter(({ id }) => !wrong.has(id));
  }
});

/** What may be shown and how often, by whatever rule. */
const answersOf = (world: World, { ads, at, slots }: Question, ruleSet: RuleSet) => {
  const { answers, pod } = askEngine(
    compileRules(ruleSet),
    {
      context: world.context,
      watched: world.watched.map((view) => toEngineView(view, keyOf)),
      reserved: world.reserved.map((view) => toEngineView(view, keyOf)),
    },
    { ads: ads.map((ad) => toEngineAd(ad, keyOf)), at, slots },
  );
  return {
    pod,
    answers: answers.map(({ allowed, remaining, nextAllowedAt }) => ({ allowed, remaining, nextAllowedAt })),
  };
};

const warned = ({ ruleSet }: World, what: RegExp, nowMs?: number): Set<string> =>
  new Set(
    warnRuleSet(ruleSet, { nowMs })
      .filter(({ message }) => what.test(message))
      .map(({ ruleId }) => ruleId),
  );

/** A warning that is never given would hold trivially. */
const atLeast = (times: number, seen: number): void => expect(seen).toBeGreaterThan(times);

describe('what is warned about is so, for every ad', () => {
  test('a cap that can never bind may allow any number: nothing changes', () => {
    let seen = 0;
    const isLoosened = (ruleSet: RuleSet, ids: Set<string>): RuleSet => ({
      ...ruleSet,
      rules: ruleSet.rules.map((rule): Rule => {
        if (!ids.has(rule.id) || typeof rule.limit === 'string') return rule;
        return { ...rule, limit: { ...rule.limit, max: 1_000_000 } };
      }),
    });
    fc.assert(
      fc.property(aCrowdedWorld, aQuestion, (world, question) => {
        const ids = warned(world, /^can never bind/);
        if (ids.size === 0) return;
        seen += 1;
        const loosened = answersOf(world, question, isLoosened(world.ruleSet, ids));
        expect(loosened).toEqual(answersOf(world, question, world.ruleSet));
      }),
      { numRuns: 6_000 },
    );
    atLeast(20, seen);
  });

  test('a rule that never applies, or whose time is over, may be left out: nothing changes', () => {
    const seen = { hidden: 0, over: 0 };
    fc.assert(
      fc.property(aCrowdedWorld, aQuestion, (world, question) => {
        const hidden = warned(world, /^never applies/);
        const over = warned(world, /^its time is over/, question.at);
        if (hidden.size > 0) seen.hidden += 1;
        if (over.size > 0) seen.over += 1;
        const rules = world.ruleSet.rules.filter(({ id }) => !hidden.has(id) && !over.has(id));
        expect(answersOf(world, question, { ...world.ruleSet, rules })).toEqual(
          answersOf(world, question, world.ruleSet),
        );
      }),
      { numRuns: 6_000 },
    );
    atLeast(20, Math.min(seen.hidden, seen.over));
  });
});

const overlap = (a: Rule, b: Rule): boolean =>
  (a.startsAt ?? -Infinity) < (b.endsAt ?? Infinity) && (b.startsAt ?? -Infinity) < (a.endsAt ?? Infinity);

const clash = (a: Rule, b: Rule): boolean => {
  const [one, other] = [a, b].map(({ limit }) =>
    typeof limit === 'string' ? limit : (parseWindowMs(limit.window) ?? 'pod'),
  );
  const kinds = [one, other];
  return one === other || (kinds.includes('OFF') && !kinds.includes('BLOCK'));
};

const instant = (hours: number): EpochMs => epochMs(1_764_590_400_000 + hours * 3_600_000);

/** All of one value and `when`: what differs is the time and the window. */
const aMeeting: fc.Arbitrary<Rule[]> = fc
  .array(
    fc.record({
      limit: fc.constantFrom<Rule['limit']>(
        'OFF',
        'BLOCK',
        { max: 1, window: 'pod' },
        { max: 1, window: '60s' },
        { max: 2, window: '1m' },
        { max: 1, window: '2m' },
      ),
      from: fc.option(fc.nat({ max: 20 }), { freq: 3 }),
      length: fc.option(fc.integer({ min: 1, max: 8 }), { freq: 3 }),
    }),
    { maxLength: 6 },
  )
  .map((shapes) =>
    shapes.map(({ limit, from, length }, index) => ({
      id: `r${index}`,
      dimension: 'creative' as const,
      value: 'c1',
      limit,
      ...(from === null ? {} : { startsAt: instant(from) }),
      ...(length === null ? {} : { endsAt: instant((from ?? 0) + length) }),
    })),
  );

test('rules exclude each other exactly where some two of them do, compared one by one', () => {
  fc.assert(
    fc.property(aMeeting, (rules) => {
      const parsed = parseRuleSet({ rules }, { retentionMs: 86_400_000 });
      const wrong = rules.filter((rule, index) =>
        rules.slice(0, index).some((other) => overlap(rule, other) && clash(rule, other)),
      );
      expect(parsed.ok).toBe(wrong.length === 0);
      const named = parsed.ok ? [] : parsed.errors.map(({ ruleId }) => ruleId);
      expect(new Set(named).size).toBe(named.length);
      // Mending what is named in a loop ends in a set that is taken; nothing innocent is named.
      for (const id of named) expect(wrong.map((rule) => rule.id)).toContain(id);
    }),
    { numRuns: 5_000 },
  );
});
