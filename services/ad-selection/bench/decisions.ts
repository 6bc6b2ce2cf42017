import { epochMs, type Rule } from '@adcap/contracts';
import { reservationFingerprint, valueKeyOf } from '@adcap/identity';
import { type CompiledRules, compileRules, type View } from '@adcap/rule-engine';
import type { Ask, Knowledge, Setting } from '../src/domain/ask.ts';
import { decide } from '../src/domain/decide.ts';
import { type Selection, tell } from '../src/domain/tell.ts';
import { toEntries } from '../src/domain/to-entries.ts';

export const NOW = epochMs(Date.UTC(2026, 2, 2, 9));
const MINUTE = 60_000;
const VIEWS = 30;
const SLOTS = 4;
/** So many creatives, brands and industries there are in a viewer's day. */
const SPREAD = 12;

const GENERIC_MAX = { creative: 3, campaign: 6, brand: 4, industry: 8 };

const generic = (['creative', 'campaign', 'brand', 'industry'] as const).map(
  (dimension): Rule => ({ id: dimension, dimension, limit: { max: GENERIC_MAX[dimension], window: '24h' } }),
);
const specific = Array.from(
  { length: SPREAD },
  (_, index): Rule => ({
    id: `spot ${index}`,
    dimension: 'creative',
    value: `creative ${index}`,
    limit: { max: 2, window: '60m' },
  }),
);
const shadow: Rule = {
  id: 'shadow',
  dimension: 'brand',
  limit: { max: 1, window: '60m' },
  mode: 'shadow',
};

export const RULES = compileRules({ version: 1, dimensions: {}, rules: [...generic, ...specific, shadow] });

const wordsOf = (index: number) => ({
  creativeId: `creative ${index % (SPREAD * 2)}`,
  campaignId: `campaign ${index % 8}`,
  brandId: `brand-${index % SPREAD}.example`,
  industryIds: [`industry ${index % 6}`],
});

const viewOf = (index: number): View => {
  const words = wordsOf(Math.floor(index * index * 0.37));
  return {
    at: epochMs(NOW - (VIEWS - index) * 40 * MINUTE),
    creative: valueKeyOf(words.creativeId),
    campaign: valueKeyOf(words.campaignId),
    brand: valueKeyOf(words.brandId),
    industries: words.industryIds.map(valueKeyOf),
  };
};

const KNOWLEDGE: Knowledge = {
  views: Array.from({ length: VIEWS }, (_, index) => viewOf(index)),
  reservations: [],
  stored: undefined,
};

const SETTING: Setting = {
  rules: RULES,
  source: 'quotas',
  breakKey: 'a break',
  nowMs: NOW,
  graceMs: 30_000,
  keyOf: valueKeyOf,
  grant: ({ slot }) => `reservation ${slot}`,
  idOf: (reservationId) => reservationFingerprint('d1', reservationId),
};

const askOf = (candidates: number, explain: Ask['explain']): Ask => ({
  deviceId: 'd1',
  sessionId: undefined,
  breakId: 'b1',
  round: 1,
  breakAt: NOW,
  context: {},
  slots: Array.from({ length: SLOTS }, () => ({})),
  podDurationMs: undefined,
  reserve: true,
  isFixed: false,
  explain,
  entries: toEntries(
    Array.from({ length: candidates }, (_, index) => wordsOf(index)),
    valueKeyOf,
  ),
});

/** A decision without Redis and HTTP, again and again: 30 views, a cap on every generic rung, a dozen specific ones. */
export const decisionOf = (
  candidates: number,
  explain: Ask['explain'] = 'nothing',
  rules: CompiledRules = RULES,
): (() => Selection) => {
  const ask = askOf(candidates, explain);
  const told = {
    source: 'quotas' as const,
    reserved: true,
    reason: undefined,
    asOf: null,
    rulesVersion: 1,
    serverTime: NOW,
  };
  // Every request comes with a context of its own.
  return () => {
    const asked = { ...ask, context: {} };
    return tell(asked, decide(asked, KNOWLEDGE, { ...SETTING, rules }), told);
  };
};

const ROUNDS = 15;
const ROUND_MS = 60;

const once = (work: () => unknown): number => {
  const begun = performance.now();
  let calls = 0;
  while (performance.now() - begun < ROUND_MS) {
    for (let call = 0; call < 20; call += 1) work();
    calls += 20;
  }
  return ((performance.now() - begun) * 1_000) / calls;
};

/**
 * Microseconds a call of each, in turns, the least of several: whatever else the machine does only ever adds, and adds to
 * all of them.
 */
export const microseconds = (...works: readonly (() => unknown)[]): number[] => {
  const least = works.map(() => Infinity);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, work] of works.entries())
      least[index] = Math.min(least[index] ?? Infinity, once(work));
  }
  return least;
};

export const say = (line: string): void => void process.stdout.write(`${line}\n`);
