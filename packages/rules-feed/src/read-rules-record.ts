import { type RulesRecord, rulesRecordSchema } from '@adcap/contracts';
import { parseRuleSet, type RuleBounds } from '@adcap/rule-engine';

/** Why a stored version is not taken. A closed set: it labels metrics. */
export const RECORD_REFUSALS = ['not_json', 'newer_schema', 'not_a_record', 'wrong_rules'] as const;
export type RecordRefusal = (typeof RECORD_REFUSALS)[number];

export type ReadRecord =
  | { ok: true; record: RulesRecord }
  /** The record is there where only its rules are wrong: whoever mends them must see them. */
  | { ok: false; reason: RecordRefusal; detail: string; record?: RulesRecord };

const SCHEMA = 1;

const refused = (reason: RecordRefusal, detail: string): ReadRecord => ({ ok: false, reason, detail });

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

/**
 * A version of the rules as it lies on the topic and in Redis. It is judged whole and by the laws of today: what another
 * release or another retention let through may be wrong here.
 */
export const readRulesRecord = (json: string, bounds: RuleBounds): ReadRecord => {
  const parsed = parseJson(json);
  if (parsed === undefined) return refused('not_json', 'it is not JSON');
  if (isNewerSchema(parsed.value)) return refused('newer_schema', 'a newer release wrote it: upgrade');
  const envelope = rulesRecordSchema.safeParse(parsed.value);
  if (!envelope.success) {
    const [issue] = envelope.error.issues;
    return refused('not_a_record', `${issue?.path.map(String).join('.')}: ${issue?.message}`);
  }
  const { dimensions, rules } = envelope.data;
  const set = parseRuleSet({ dimensions, rules }, bounds);
  if (set.ok) return { ok: true, record: { ...envelope.data, ...set.draft, rules: [...set.draft.rules] } };
  const [first] = set.errors;
  const detail = `rule ${first?.ruleId}, ${first?.field}: ${first?.message}`;
  return { ok: false, reason: 'wrong_rules', detail, record: envelope.data };
};
