import { DIMENSIONS, parseWindowMs, type Rule, type RuleFinding, type RuleSetDraft } from '@adcap/contracts';
import { CapIndex, type EnforcedCap } from './cap-index.ts';
import { rungKey } from './meeting-place.ts';

/** What a set cannot know of itself. */
export type WarningContext = {
  /** Given: rules whose time is over are found. */
  nowMs?: number | undefined;
};

const finding = ({ id }: Rule, field: string, message: string): RuleFinding => ({
  ruleId: id,
  field,
  message,
});

const isEnforced = (rule: Rule): boolean => rule.mode !== 'shadow' && rule.enabled !== false;

const isAlways = (rule: Rule): boolean =>
  rule.when === undefined && rule.startsAt === undefined && rule.endsAt === undefined;

const isCap = (rule: Rule): rule is EnforcedCap => typeof rule.limit !== 'string' && isEnforced(rule);

const capText = ({ limit }: EnforcedCap): string => `${limit.max}/${limit.window}`;

/** A cap beside another of its own rung and value, or of its own rung where both are generic. */
const neverBinds = (cap: EnforcedCap, caps: CapIndex): RuleFinding[] => {
  const other = caps.stricter(cap, rungKey(cap));
  return other === undefined
    ? []
    : [finding(cap, 'limit', `can never bind: rule ${other.id} (${capText(other)}) always blocks first`)];
};

/** A generic rule of another dimension applies beside the specific cap, unless that is final. */
const neverBindsUnderGeneric = (cap: EnforcedCap, caps: CapIndex): RuleFinding[] => {
  if (cap.value === undefined || cap.final === true) return [];
  for (const dimension of DIMENSIONS) {
    const other = dimension === cap.dimension ? undefined : caps.stricter(cap, dimension);
    if (other === undefined) continue;
    const where = `where an ad has ${dimension === 'industry' ? 'an' : 'a'} ${dimension}`;
    const message = `may never bind: ${where}, rule ${other.id} (${capText(other)}) blocks first; did you mean final?`;
    return [finding(cap, 'limit', message)];
  }
  return [];
};

const looserThanGeneric = (cap: EnforcedCap, caps: CapIndex): RuleFinding[] => {
  if (cap.value === undefined || cap.final === true) return [];
  const generic = caps.stricter(cap, cap.dimension);
  if (generic === undefined) return [];
  const message = `is looser than the generic rule ${generic.id} (${capText(generic)}) which it replaces`;
  return [finding(cap, 'limit', message)];
};

type Hiding = Rule & { limit: 'OFF' | 'BLOCK' };

const isHiding = (rule: Rule): rule is Hiding =>
  typeof rule.limit === 'string' && isEnforced(rule) && isAlways(rule);

/** By rung and value: the BLOCK or the OFF that applies everywhere and always, and so hides what stands beside it. */
const indexOfHiding = (rules: readonly Rule[]): ReadonlyMap<string, Hiding> => {
  const hiding = new Map<string, Hiding>();
  for (const rule of rules) {
    if (!isHiding(rule)) continue;
    const rung = rungKey(rule);
    if (rule.limit === 'BLOCK' || !hiding.has(rung)) hiding.set(rung, rule);
  }
  return hiding;
};

const isHidden = (rule: Rule, hiding: ReadonlyMap<string, Hiding>): RuleFinding[] => {
  if (rule.value === undefined || !isEnforced(rule)) return [];
  const by = hiding.get(rungKey(rule));
  if (by === undefined || by === rule || (by.limit === 'OFF' && typeof rule.limit === 'string')) return [];
  return [finding(rule, 'limit', `never applies: rule ${by.id} says ${by.limit} there, always`)];
};

const hasNoEnd = (rule: Rule): RuleFinding[] =>
  typeof rule.limit === 'string' && isEnforced(rule) && rule.endsAt === undefined
    ? [finding(rule, 'endsAt', `${rule.limit} has no end`)]
    : [];

const isOver = (rule: Rule, nowMs: number | undefined): boolean =>
  nowMs !== undefined && rule.endsAt !== undefined && rule.endsAt <= nowMs;

const offDimensions = ({ dimensions, rules }: RuleSetDraft): RuleFinding[] =>
  DIMENSIONS.filter((dimension) => dimensions[dimension] === 'off').map((dimension) => {
    const idle = rules.filter((rule) => rule.dimension === dimension && rule.limit !== 'BLOCK').length;
    const message = `is off: no rule of this dimension applies, except BLOCK (${idle} of them do not)`;
    return { ruleId: '(rule set)', field: `dimensions.${dimension}`, message };
  });

const UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

const durationText = (ms: number): string => {
  const [unit, unitMs] = UNITS.find(([, length]) => ms % length === 0 && ms >= length * 2) ?? ['s', 1_000];
  return `${ms / unitMs} ${unit}`;
};

/** Said of a window this many times longer than the next: one that is a little longer is in every set. */
const MUCH_LONGER = 2;

/** Every decision reads as far back as the longest window reaches, whatever the ad. */
const longestWindow = ({ rules }: RuleSetDraft): RuleFinding[] => {
  let longest: { rule: Rule; ms: number } | undefined;
  let secondMs = 0;
  for (const rule of rules) {
    const ms = typeof rule.limit === 'string' ? undefined : parseWindowMs(rule.limit.window);
    if (ms === undefined) continue;
    if (longest === undefined || ms > longest.ms) {
      secondMs = longest?.ms ?? 0;
      longest = { rule, ms };
    } else secondMs = Math.max(secondMs, ms);
  }
  if (longest === undefined || secondMs === 0 || longest.ms <= secondMs * MUCH_LONGER) return [];
  const [long, short] = [longest.ms, secondMs].map(durationText);
  const message = `this rule alone makes every decision read ${long} instead of ${short}`;
  return [finding(longest.rule, 'limit.window', message)];
};

const ofRule = (rule: Rule, { caps, hiding }: { caps: CapIndex; hiding: ReadonlyMap<string, Hiding> }) => {
  const hidden = isHidden(rule, hiding);
  if (hidden.length > 0) return hidden;
  if (!isCap(rule)) return hasNoEnd(rule);
  const beside = neverBinds(rule, caps);
  return [
    ...(beside.length > 0 ? beside : neverBindsUnderGeneric(rule, caps)),
    ...looserThanGeneric(rule, caps),
  ];
};

/**
 * What is legal but odd in a rule set. A warning never stops a change. Said is what holds for every ad, or for every ad that has a
 * value in a dimension; what two rules do to one another where that depends on the ad is not guessed at.
 */
export const warnRuleSet = (draft: RuleSetDraft, { nowMs }: WarningContext = {}): RuleFinding[] => {
  const { dimensions, rules } = draft;
  const isLive = (rule: Rule): boolean =>
    !isOver(rule, nowMs) && (dimensions[rule.dimension] !== 'off' || rule.limit === 'BLOCK');
  const live = rules.filter(isLive);
  const index = { caps: new CapIndex(live.filter(isCap)), hiding: indexOfHiding(live) };
  return [
    ...offDimensions(draft),
    ...rules.flatMap((rule) => {
      if (isOver(rule, nowMs) && rule.enabled !== false)
        return [finding(rule, 'endsAt', 'its time is over: it never applies again')];
      return isLive(rule) ? ofRule(rule, index) : [];
    }),
    ...longestWindow(draft),
  ];
};
