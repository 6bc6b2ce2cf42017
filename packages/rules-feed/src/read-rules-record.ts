import { type RulesRecord, rulesEnvelopeSchema, rulesRecordSchema } from '@adcap/contracts';
import { finish, parseRuleSetInSteps, type RuleBounds, type Steps } from '@adcap/rule-engine';

/** Why a stored version is not taken. A closed set: it labels metrics. */
export const RECORD_REFUSALS = ['not_json', 'newer_schema', 'not_a_record', 'wrong_rules'] as const;
export type RecordRefusal = (typeof RECORD_REFUSALS)[number];

export type ReadRecord =
  | { ok: true; record: RulesRecord }
  /** The record is there where only its rules are wrong: whoever mends them must see them. */
  | { ok: false; reason: RecordRefusal; detail: string; version?: number; record?: RulesRecord };

const SCHEMA = 1;

const versionOf = (value: unknown): { version?: number } =>
  typeof value === 'object' && value !== null && 'version' in value && typeof value.version === 'number'
    ? { version: value.version }
    : {};

const refused = (reason: RecordRefusal, detail: string, value?: unknown): ReadRecord => ({
  ok: false,
  reason,
  detail,
  ...versionOf(value),
});

const parseJson = (json: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(json) };
  } catch {
    return undefined;
  }
};

const isNewerSchema = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'schema' in value &&
  typeof value.schema === 'number' &&
  value.schema > SCHEMA;

/** The record with the rules as they were written, for whoever mends them; none where they are no rules at all. */
const toMend = (value: unknown): { record?: RulesRecord } => {
  const whole = rulesRecordSchema.safeParse(value);
  return whole.success ? { record: whole.data } : {};
};

/** `readRulesRecord` in short steps: a set of thousands of rules would keep decisions waiting past their deadline. */
export function* readRulesRecordInSteps(json: string, bounds: RuleBounds): Steps<ReadRecord> {
  const parsed = parseJson(json);
  yield;
  if (parsed === undefined) return refused('not_json', 'it is not JSON');
  if (isNewerSchema(parsed.value))
    return refused('newer_schema', 'a newer release wrote it: upgrade', parsed.value);
  const envelope = rulesEnvelopeSchema.safeParse(parsed.value);
  if (!envelope.success) {
    const [issue] = envelope.error.issues;
    return refused('not_a_record', `${issue?.path.map(String).join('.')}: ${issue?.message}`, parsed.value);
  }
  const { dimensions, rules } = envelope.data;
  const set = yield* parseRuleSetInSteps({ dimensions, rules }, bounds);
  if (set.ok) return { ok: true, record: { ...envelope.data, ...set.draft, rules: [...set.draft.rules] } };
  const [first] = set.errors;
  const detail = `rule ${first?.ruleId}, ${first?.field}: ${first?.message}`;
  const mendable = toMend(parsed.value);
  const reason = mendable.record === undefined ? 'not_a_record' : 'wrong_rules';
  return { ok: false, reason, detail, ...versionOf(parsed.value), ...mendable };
}

/**
 * A version of the rules as it lies on the topic and in Redis. It is judged whole and by the laws of today: what another
 * release or another retention let through may be wrong here.
 */
export const readRulesRecord = (json: string, bounds: RuleBounds): ReadRecord =>
  finish(readRulesRecordInSteps(json, bounds));
