import type { BusMessage, RawMessage } from './bus-message.ts';
import type { Producer } from './producer.ts';

export type DeadLetterSettings = {
  producer: Producer;
  topic: string;
  /**
   * Whether undecodable messages are set aside too. One group of a topic does it, so that each is set aside once; the
   * others count them.
   */
  undecodable: boolean;
};

export type DeadLetter = { message: RawMessage; step: string; reason: string; cause?: unknown };

/** Where a dead letter comes from; in its headers. */
export type DeadLetterOrigin = { topic: string; groupId: string; attempts: number; nowMs: number };

const MAX_VALUE_BYTES = 65_536;
const MAX_KEY_BYTES = 4_096;
const MAX_ERROR_LENGTH = 1_000;

/** A copy of the message, cut to 64 kB, with all that is needed to find the original and to judge it. */
export const toDeadLetterMessage = (letter: DeadLetter, origin: DeadLetterOrigin): BusMessage => {
  const { key, value, partition, offset } = letter.message;
  return {
    key: key === null ? null : key.subarray(0, MAX_KEY_BYTES),
    value: value === null ? null : value.subarray(0, MAX_VALUE_BYTES),
    headers: {
      'dlq-reason': letter.reason,
      'dlq-step': letter.step,
      'dlq-error': errorText(letter.cause),
      'dlq-timestamp': String(origin.nowMs),
      'dlq-topic': origin.topic,
      'dlq-partition': String(partition),
      'dlq-offset': String(offset),
      'dlq-group': origin.groupId,
      'dlq-attempts': String(origin.attempts),
      'dlq-value-bytes': String(value?.length ?? -1),
    },
  };
};

const errorText = (cause: unknown): string => {
  if (cause === undefined) return '';
  const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : safeString(cause);
  return text.slice(0, MAX_ERROR_LENGTH);
};

const safeString = (value: unknown): string => {
  try {
    return typeof value === 'string' ? value : JSON.stringify(value);
  } catch {
    return typeof value;
  }
};
