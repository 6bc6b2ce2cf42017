import { DIMENSIONS, type Dimension, type Rule, type RuleSetDraft } from '@adcap/contracts';

/** One field that is not what it was; `null` where the rule does not say it. */
export type FieldChange = { field: string; before: unknown; after: unknown };

export type RuleSetDiff = {
  added: readonly Rule[];
  removed: readonly Rule[];
  changed: readonly { id: string; fields: readonly FieldChange[] }[];
  dimensions: readonly { dimension: Dimension; before: 'on' | 'off'; after: 'on' | 'off' }[];
  /** The rules of both stand in another order: it decides ties within a rung. */
  isReordered: boolean;
};

type Field = Exclude<keyof Rule, 'id'>;

/** Neither the order of a condition's keys nor that of its values means anything. */
const whenOf = ({ when = {} }: Rule): string =>
  JSON.stringify(
    Object.entries(when)
      .map(([key, values]) => [key, [...new Set(values)].toSorted()] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );

const limitOf = ({ limit }: Rule): string =>
  typeof limit === 'string' ? limit : JSON.stringify([limit.max, limit.window]);

/** What a rule means in each field: equal where nothing changes. In the order in which changes are told. */
const MEANING: { readonly [field in Field]: (rule: Rule) => string | number | boolean | undefined } = {
  dimension: (rule) => rule.dimension,
  value: (rule) => rule.value,
  limit: limitOf,
  final: (rule) => rule.final ?? false,
  when: whenOf,
  mode: (rule) => rule.mode ?? 'enforce',
  enabled: (rule) => rule.enabled ?? true,
  startsAt: (rule) => rule.startsAt,
  endsAt: (rule) => rule.endsAt,
  note: (rule) => rule.note,
};

const isField = (name: string): name is Field => name in MEANING;
const FIELDS = Object.keys(MEANING).filter(isField);

const changedFields = (before: Rule, after: Rule): FieldChange[] =>
  FIELDS.filter((field) => MEANING[field](before) !== MEANING[field](after)).map((field) => ({
    field,
    before: before[field] ?? null,
    after: after[field] ?? null,
  }));

/** Whether the rules that both sets have stand in another order. */
const isReordered = (before: readonly string[], after: readonly string[]): boolean =>
  before.some((id, index) => after[index] !== id);

/** What a change of the rules does, rule by rule: a renamed one is removed and added. Spelled-out defaults are no change. */
export const diffRuleSets = (before: RuleSetDraft, after: RuleSetDraft): RuleSetDiff => {
  const old = new Map(before.rules.map((rule) => [rule.id, rule]));
  const kept = new Set(after.rules.filter(({ id }) => old.has(id)).map(({ id }) => id));
  const inBoth = ({ rules }: RuleSetDraft): string[] =>
    rules.filter(({ id }) => kept.has(id)).map(({ id }) => id);
  return {
    added: after.rules.filter(({ id }) => !old.has(id)),
    removed: before.rules.filter(({ id }) => !kept.has(id)),
    changed: after.rules.flatMap((rule) => {
      const was = old.get(rule.id);
      const fields = was === undefined ? [] : changedFields(was, rule);
      return fields.length === 0 ? [] : [{ id: rule.id, fields }];
    }),
    dimensions: DIMENSIONS.map((dimension) => ({
      dimension,
      before: before.dimensions[dimension] ?? 'on',
      after: after.dimensions[dimension] ?? 'on',
    })).filter((one) => one.before !== one.after),
    isReordered: isReordered(inBoth(before), inBoth(after)),
  };
};

/** Whether nothing at all would change. */
export const isEmptyDiff = (diff: RuleSetDiff): boolean =>
  diff.added.length === 0 &&
  diff.removed.length === 0 &&
  diff.changed.length === 0 &&
  diff.dimensions.length === 0 &&
  !diff.isReordered;
