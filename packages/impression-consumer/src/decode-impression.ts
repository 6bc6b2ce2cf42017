import { type ImpressionEvent, impressionEventSchema } from '@adcap/contracts';
import type { Decoded, RawMessage } from '@adcap/kafka-bus';

/** Why a message is no impression. A closed set: it labels metrics and is the reason of a dead letter. */
export const UNDECODABLE_REASONS = [
  'no_value',
  'not_utf8',
  'not_json',
  'unknown_version',
  'wrong_fields',
  'wrong_key',
] as const;
export type UndecodableReason = (typeof UNDECODABLE_REASONS)[number];

const VERSION = 1;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const refused = (reason: UndecodableReason, cause?: unknown): Decoded<never> => ({
  ok: false,
  reason,
  cause,
});

/** The text of a message, or why there is none. */
const textOf = (value: Buffer | null): { text: string } | { reason: UndecodableReason } => {
  if (value === null || value.length === 0) return { reason: 'no_value' };
  try {
    return { text: utf8.decode(value) };
  } catch {
    return { reason: 'not_utf8' };
  }
};

const isOtherVersion = (raw: unknown): boolean =>
  typeof raw === 'object' && raw !== null && 'v' in raw && typeof raw.v === 'number' && raw.v !== VERSION;

/**
 * Reads NEW_IMPRESSION. The key must be the device: what lies in another partition than the device's would be applied
 * beside its order, and would not be waited for.
 */
export const decodeImpression = ({ key, value }: RawMessage): Decoded<ImpressionEvent> => {
  const read = textOf(value);
  if ('reason' in read) return refused(read.reason);
  let raw: unknown;
  try {
    raw = JSON.parse(read.text);
  } catch (cause) {
    return refused('not_json', cause);
  }
  if (isOtherVersion(raw)) return refused('unknown_version');
  const parsed = impressionEventSchema.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refused('wrong_fields', `${issue?.path.map(String).join('.')}: ${issue?.message}`);
  }
  if (key?.toString('utf8') !== parsed.data.deviceId) return refused('wrong_key');
  return { ok: true, event: parsed.data };
};
