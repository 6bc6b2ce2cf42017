import {
  DIMENSIONS,
  type Dimension,
  type EpochMs,
  normaliseBrandKey,
  parseWindowMs,
  type Rule,
  type RuleSet,
} from '@adcap/contracts';

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
  /** The instants at which some rule begins or ceases to apply, ascending. */
  boundaries: readonly EpochMs[];
};

const compileLimit = (limit: Rule['limit']): CompiledLimit => {
  if (limit === 'OFF') return { kind: 'off' };
  if (limit === 'BLOCK') return { kind: 'block' };
  return { kind: 'cap', max: limit.max, windowMs: parseWindowMs(limit.window) ?? null };
};

const compileValue = (rule: Rule): string | undefined =>
  rule.value !== undefined && rule.dimension === 'brand' ? normaliseBrandKey(rule.value) : rule.value;

const compileRule = (rule: Rule, order: number): CompiledRule => ({
  id: rule.id,
  order,
  dimension: rule.dimension,
  value: compileValue(rule),
  limit: compileLimit(rule.limit),
  final: rule.final ?? false,
  when: new Map(Object.entries(rule.when ?? {}).map(([key, values]) => [key, new Set(values)])),
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

/** Indexes a valid rule set by dimension and value. Brand values are normalised (law 9). */
export const compileRules = (ruleSet: RuleSet): CompiledRules => {
  const rules = ruleSet.rules.map(compileRule);
  const ofDimension = (dimension: Dimension) => rules.filter((rule) => rule.dimension === dimension);
  const instants = rules.flatMap((rule) => [rule.startsAt ?? [], rule.endsAt ?? []].flat());
  return {
    version: ruleSet.version,
    generic: byDimension((dimension) => ofDimension(dimension).filter((rule) => rule.value === undefined)),
    specific: byDimension((dimension) =>
      Map.groupBy(
        ofDimension(dimension).filter((rule) => rule.value !== undefined),
        (rule) => rule.value ?? '',
      ),
    ),
    isOn: byDimension((dimension) => ruleSet.dimensions[dimension] !== 'off'),
    longestWindowMs: Math.max(0, ...DIMENSIONS.flatMap((dimension) => ofDimension(dimension).map(windowOf))),
    boundaries: [...new Set(instants)].toSorted((a, b) => a - b),
  };
};
