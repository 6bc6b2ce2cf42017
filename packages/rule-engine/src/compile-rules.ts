import { type Dimension, type EpochMs, parseWindowMs, type Rule, type RuleSet } from '@adcap/contracts';
import { valueOfRule } from './meeting-place.ts';
import { finish, type Steps } from './steps.ts';

/** A rule made ready to be looked up: its window in milliseconds, its defaults filled in. */
export type CompiledRule = {
  id: string;
  /** Place in the rule set: the tie-break within a rung. */
  order: number;
  dimension: Dimension;
  /** `undefined`: generic, every value of the dimension. */
  value: string | undefined;
  limit: CompiledLimit;
  final: boolean;
  when: ReadonlyMap<string, ReadonlySet<string>>;
  shadow: boolean;
  enabled: boolean;
  startsAt: EpochMs | undefined;
  endsAt: EpochMs | undefined;
};

/** `windowMs` null: a pod window. */
export type CompiledLimit =
  | { kind: 'cap'; max: number; windowMs: number | null }
  | { kind: 'off' }
  | { kind: 'block' };

/** A rule set ready to decide with. */
export type CompiledRules = {
  version: number;
  generic: Readonly<Record<Dimension, readonly CompiledRule[]>>;
  specific: Readonly<Record<Dimension, ReadonlyMap<string, readonly CompiledRule[]>>>;
  isOn: Readonly<Record<Dimension, boolean>>;
  /** How far back a decision must read, 0 where no rule has a window. */
  longestWindowMs: number;
};

const compileLimit = (limit: Rule['limit']): CompiledLimit => {
  if (limit === 'OFF') return { kind: 'off' };
  if (limit === 'BLOCK') return { kind: 'block' };
  return { kind: 'cap', max: limit.max, windowMs: parseWindowMs(limit.window) ?? null };
};

/** Most rules apply everywhere: they share it. */
const EVERYWHERE: CompiledRule['when'] = new Map();

const compileWhen = ({ when }: Rule): CompiledRule['when'] =>
  when === undefined
    ? EVERYWHERE
    : new Map(Object.entries(when).map(([key, values]) => [key, new Set(values)]));

const compileRule = (rule: Rule, order: number): CompiledRule => ({
  id: rule.id,
  order,
  dimension: rule.dimension,
  value: valueOfRule(rule),
  limit: compileLimit(rule.limit),
  final: rule.final ?? false,
  when: compileWhen(rule),
  shadow: rule.mode === 'shadow',
  enabled: rule.enabled ?? true,
  startsAt: rule.startsAt,
  endsAt: rule.endsAt,
});

const byDimension = <T>(make: (dimension: Dimension) => T): Record<Dimension, T> => ({
  creative: make('creative'),
  campaign: make('campaign'),
  brand: make('brand'),
  industry: make('industry'),
});

const windowOf = (rule: CompiledRule): number => (rule.limit.kind === 'cap' ? (rule.limit.windowMs ?? 0) : 0);

const RULES_A_STEP = 200;

/** `compileRules` in short steps, for whoever must not keep others waiting. */
export function* compileRulesInSteps(ruleSet: RuleSet): Steps<CompiledRules> {
  const generic = byDimension((): CompiledRule[] => []);
  const specific = byDimension(() => new Map<string, CompiledRule[]>());
  let longestWindowMs = 0;
  for (const [order, written] of ruleSet.rules.entries()) {
    if (order % RULES_A_STEP === 0) yield;
    const rule = compileRule(written, order);
    longestWindowMs = Math.max(longestWindowMs, windowOf(rule));
    if (rule.value === undefined) {
      generic[rule.dimension].push(rule);
      continue;
    }
    const ofValue = specific[rule.dimension].get(rule.value);
    if (ofValue === undefined) specific[rule.dimension].set(rule.value, [rule]);
    else ofValue.push(rule);
  }
  return {
    version: ruleSet.version,
    generic,
    specific,
    isOn: byDimension((dimension) => ruleSet.dimensions[dimension] !== 'off'),
    longestWindowMs,
  };
}

/** Indexes a valid rule set by dimension and value. Brand values are normalised (law 9). */
export const compileRules = (ruleSet: RuleSet): CompiledRules => finish(compileRulesInSteps(ruleSet));
