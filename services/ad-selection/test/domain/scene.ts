import { type EpochMs, epochMs, fingerprint, type Rule, type ValueKey, valueKey } from '@adcap/contracts';
import { compileRules, parseRuleSet, type Reservation, type View } from '@adcap/rule-engine';
import type { Ask, Knowledge, Setting } from '../../src/domain/ask.ts';
import { type Decision, decide } from '../../src/domain/decide.ts';
import type { StoredPod } from '../../src/domain/stored-pod.ts';
import { toEntries } from '../../src/domain/to-entries.ts';

export const NINE = epochMs(Date.UTC(2026, 2, 2, 9));
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const GRACE_MS = 30_000;
const BREAK_KEY = 'break-key-1';

const keys = new Map<string, ValueKey>();
export const keyOf = (value: string): ValueKey => {
  const known = keys.get(value) ?? valueKey(keys.size + 1);
  keys.set(value, known);
  return known;
};

/** `"3/60m"` as a limit. */
export const cap = (text: string): { max: number; window: string } => {
  const [max = '', window = ''] = text.split('/');
  return { max: Number(max), window };
};

type Words = { creativeId: string; campaignId?: string; brandId?: string; industryIds?: readonly string[] };

export const seen = (at: number, { creativeId, campaignId, brandId, industryIds }: Words): View => ({
  at: epochMs(at),
  creative: keyOf(creativeId),
  campaign: valueKey(campaignId === undefined ? 0 : keyOf(campaignId)),
  brand: valueKey(brandId === undefined ? 0 : keyOf(brandId)),
  industries: (industryIds ?? []).map(keyOf),
});

/** A live reservation of another break. */
export const promised = (at: number, words: Words): Reservation => ({
  ...seen(at, words),
  id: fingerprint('other'),
  breakKey: 'another-break',
  slot: 1,
  expiresAt: epochMs(at + HOUR),
  grantedAt: epochMs(at - HOUR),
});

export const rulesOf = (rules: readonly (Omit<Rule, 'id'> & { id?: string })[]) => {
  const named = rules.map((rule, index) => ({ id: `r${index}`, ...rule }));
  const parsed = parseRuleSet({ rules: named }, { retentionMs: 24 * HOUR });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return compileRules({ version: 7, ...parsed.draft });
};

export type Request = Partial<Omit<Ask, 'entries' | 'slots'>> & {
  candidates?: readonly unknown[];
  slots?: number | Ask['slots'];
};

export const askOf = ({ candidates = [], slots = 0, ...more }: Request): Ask => ({
  deviceId: 'd1',
  sessionId: undefined,
  breakId: 'b1',
  round: 1,
  breakAt: NINE,
  context: {},
  podDurationMs: undefined,
  reserve: true,
  isFixed: false,
  explain: 'nothing',
  slots: typeof slots === 'number' ? Array.from({ length: slots }, () => ({})) : slots,
  entries: toEntries(candidates, keyOf),
  ...more,
});

export const settingOf = (rules: Parameters<typeof rulesOf>[0], nowMs: EpochMs = NINE): Setting => {
  let grants = 0;
  return {
    rules: rulesOf(rules),
    source: 'quotas',
    breakKey: BREAK_KEY,
    nowMs,
    graceMs: GRACE_MS,
    keyOf,
    grant: ({ slot, facts }) => {
      grants += 1;
      return `${slot}:${facts.creativeId}:${grants}`;
    },
    idOf: fingerprint,
  };
};

type World = { rules?: Parameters<typeof rulesOf>[0]; nowMs?: EpochMs } & Partial<Knowledge>;

/** A device that is asked about again and again: what one decision writes, the next one knows. */
export const createDevice = (world: World) => {
  let reservations: readonly Reservation[] = world.reservations ?? [];
  let stored: StoredPod | undefined = world.stored;
  const setting = settingOf(world.rules ?? [], world.nowMs);
  const views = [...(world.views ?? [])];
  return {
    ask: (request: Request): Decision => {
      const decision = decide(askOf(request), { views, reservations, stored }, setting);
      if (decision.kind === 'decided' && decision.writing !== undefined) {
        const { add, pod, remove } = decision.writing;
        reservations = [...reservations.filter((one) => !remove.includes(one)), ...add];
        stored = JSON.parse(JSON.stringify(pod));
      }
      return decision;
    },
    /** A held place is watched: its reservation becomes an impression. */
    watch: (slot: number, at: number = NINE): void => {
      const held = reservations.find((one) => one.breakKey === BREAK_KEY && one.slot === slot);
      if (held === undefined) throw new Error(`nothing is held in slot ${slot}`);
      reservations = reservations.filter((one) => one !== held);
      views.push({ ...held, at: epochMs(at) });
    },
    see: (view: View): void => void views.push(view),
    held: () => reservations.filter(({ breakKey }) => breakKey === BREAK_KEY),
    stored: () => stored,
  };
};

/** What the caller would be told, whether decided now or stored before. */
export const told = (decision: Decision) => {
  if (decision.kind === 'refused') throw new Error(decision.code);
  return decision.kind === 'stored' ? decision.round : decision.decided;
};

export const outcomes = (decision: Decision) => told(decision).candidates.map(({ outcome }) => outcome);
export const places = (decision: Decision) =>
  told(decision).pod.map(({ slot, creativeId, index }) => [slot, creativeId, index]);
export const creatives = (...ids: string[]) => ids.map((creativeId) => ({ creativeId }));
