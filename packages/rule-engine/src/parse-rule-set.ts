import {
  dimensionSwitchesSchema,
  isUnfilled,
  parseWindowMs,
  type Rule,
  type RuleFinding,
  type RuleSetDraft,
  ruleSchema,
} from '@adcap/contracts';
import { findClashes } from './clashes.ts';
import { finish, type Steps } from './steps.ts';

/** A rule set in the making, or everything that is wrong with it. Wrong ones are refused whole (law 4). */
export type ParsedRuleSet = { ok: true; draft: RuleSetDraft } | { ok: false; errors: readonly RuleFinding[] };

/** The windows that the store can answer for. */
export type RuleBounds = { retentionMs: number };

const MIN_WINDOW_MS = 1_000;
/** Findings that concern the set as a whole name it so. */
const THE_SET = '(rule set)';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A rule without a usable id is named by its place. */
const nameOf = (raw: unknown, index: number): string =>
  isRecord(raw) && typeof raw['id'] === 'string' && raw['id'] !== '' ? raw['id'] : `rules.${index}`;

type Issue = {
  path: readonly PropertyKey[];
  message: string;
  errors?: readonly (readonly Issue[])[];
  /** Fields that nobody knows. */
  keys?: readonly string[];
};

/** The union over `limit` reports the branches that failed; the one for a cap says which of its fields is wrong. */
const deepest = (issue: Issue): readonly Issue[] => {
  const branch = issue.errors?.find((issues) =>
    issues.some(({ path, keys }) => path.length > 0 || keys !== undefined),
  );
  return branch === undefined
    ? [issue]
    : branch.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
};

const byField = (issue: Issue): readonly Issue[] =>
  issue.keys === undefined
    ? [issue]
    : issue.keys.map((key) => ({ path: [...issue.path, key], message: 'is not a known field' }));

const findingsOf = (ruleId: string, issues: readonly Issue[]): RuleFinding[] =>
  issues
    .flatMap(deepest)
    .flatMap(byField)
    .map((issue) => ({ ruleId, field: issue.path.map(String).join('.'), message: issue.message }));

const checkCap = (rule: Rule, { retentionMs }: RuleBounds): RuleFinding[] => {
  if (typeof rule.limit === 'string' || rule.limit.window === 'pod') return [];
  const windowMs = parseWindowMs(rule.limit.window) ?? 0;
  const message =
    windowMs < MIN_WINDOW_MS
      ? 'must be at least 1s'
      : windowMs > retentionMs
        ? `must not be longer than the ${retentionMs / 3_600_000} h that impressions are kept`
        : undefined;
  return message === undefined ? [] : [{ ruleId: rule.id, field: 'limit.window', message }];
};

const checkAlone = (rule: Rule, bounds: RuleBounds): RuleFinding[] => {
  const findings = checkCap(rule, bounds);
  const add = (field: string, message: string): void =>
    void findings.push({ ruleId: rule.id, field, message });
  if (rule.value === undefined && typeof rule.limit === 'string') {
    add('limit', `${rule.limit} needs a value: on every ${rule.dimension} it would switch everything`);
  }
  if (rule.value === undefined && rule.final === true)
    add('final', 'needs a value: a generic rule is final anyway');
  if (rule.value !== undefined && isUnfilled(rule.value)) add('value', 'is empty or an unfilled macro');
  if (rule.startsAt !== undefined && rule.endsAt !== undefined && rule.endsAt <= rule.startsAt) {
    add('endsAt', 'must be later than startsAt');
  }
  return findings;
};

function* checkTogether(rules: readonly Rule[]): Steps<RuleFinding[]> {
  const findings: RuleFinding[] = [];
  const ids = new Set<string>();
  for (const rule of rules) {
    if (ids.has(rule.id)) findings.push({ ruleId: rule.id, field: 'id', message: 'is used by another rule' });
    ids.add(rule.id);
  }
  return [...findings, ...(yield* findClashes(rules))];
}

/** So many rules take well under a millisecond: nobody waits for long behind them. */
const RULES_A_STEP = 50;

function* parseRules(raw: unknown, bounds: RuleBounds): Steps<{ rules: Rule[]; errors: RuleFinding[] }> {
  if (!Array.isArray(raw)) {
    return { rules: [], errors: [{ ruleId: THE_SET, field: 'rules', message: 'must be a list' }] };
  }
  const rules: Rule[] = [];
  const errors: RuleFinding[] = [];
  for (const [index, item] of raw.entries()) {
    if (index % RULES_A_STEP === 0) yield;
    const parsed = ruleSchema.safeParse(item);
    if (!parsed.success) {
      errors.push(...findingsOf(nameOf(item, index), parsed.error.issues));
      continue;
    }
    rules.push(parsed.data);
    errors.push(...checkAlone(parsed.data, bounds));
  }
  yield;
  return { rules, errors: [...errors, ...(yield* checkTogether(rules))] };
}

/** `parseRuleSet` in short steps, for whoever must not keep others waiting while thousands of rules are judged. */
export function* parseRuleSetInSteps(
  input: unknown,
  bounds: RuleBounds,
  fields: readonly string[] = [],
): Steps<ParsedRuleSet> {
  if (!isRecord(input)) {
    return { ok: false, errors: [{ ruleId: THE_SET, field: '', message: 'must be { dimensions?, rules }' }] };
  }
  const known = new Set(['dimensions', 'rules', ...fields]);
  const unknown = Object.keys(input)
    .filter((key) => !known.has(key))
    .map((field) => ({ ruleId: THE_SET, field, message: 'is not a field of a rule set' }));
  const dimensions = dimensionSwitchesSchema.safeParse(input['dimensions'] ?? {});
  const switchErrors = dimensions.success
    ? []
    : findingsOf(
        THE_SET,
        dimensions.error.issues.map((issue) => ({ ...issue, path: ['dimensions', ...issue.path] })),
      );
  const { rules, errors } = yield* parseRules(input['rules'], bounds);
  const all = [...unknown, ...switchErrors, ...errors];
  return all.length > 0 || !dimensions.success
    ? { ok: false, errors: all }
    : { ok: true, draft: { dimensions: dimensions.data, rules } };
}

/**
 * Law 4: reads `{ dimensions?, rules }` from a file or a request. Every error names the rule and the field.
 *
 * @param fields further top-level fields that the caller takes care of itself
 */
export const parseRuleSet = (
  input: unknown,
  bounds: RuleBounds,
  fields: readonly string[] = [],
): ParsedRuleSet => finish(parseRuleSetInSteps(input, bounds, fields));
