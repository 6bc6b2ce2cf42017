import { describe, expect, test } from 'vitest';
import { toDeadLetterMessage } from '../src/dead-letter.ts';

const message = { partition: 3, offset: 41n, timestampMs: 5, key: Buffer.from('device'), headers: {} };
const origin = { topic: 'adcap.impressions.v1', groupId: 'history', attempts: 2, nowMs: 1_700_000_000_000 };

describe('toDeadLetterMessage', () => {
  test('says where the message is, what failed and why', () => {
    const letter = {
      message: { ...message, value: Buffer.from('x') },
      step: 'quota',
      reason: 'wrong_type',
      cause: new TypeError('WRONGTYPE'),
    };
    expect(toDeadLetterMessage(letter, origin)).toEqual({
      key: Buffer.from('device'),
      value: Buffer.from('x'),
      headers: {
        'dlq-reason': 'wrong_type',
        'dlq-step': 'quota',
        'dlq-error': 'TypeError: WRONGTYPE',
        'dlq-timestamp': '1700000000000',
        'dlq-topic': 'adcap.impressions.v1',
        'dlq-partition': '3',
        'dlq-offset': '41',
        'dlq-group': 'history',
        'dlq-attempts': '2',
        'dlq-value-bytes': '1',
      },
    });
  });

  test('cuts a value to 64 kB and says how large it was', () => {
    const value = Buffer.alloc(900_000, 7);
    const { value: copy, headers } = toDeadLetterMessage(
      { message: { ...message, value }, step: 's', reason: 'r' },
      origin,
    );
    expect(copy).toHaveLength(65_536);
    expect(headers?.['dlq-value-bytes']).toBe('900000');
  });

  test('keeps null keys and values', () => {
    const letter = { message: { ...message, key: null, value: null }, step: 's', reason: 'r' };
    expect(toDeadLetterMessage(letter, origin)).toMatchObject({ key: null, value: null });
  });

  test('a cause that cannot be written down is no obstacle', () => {
    const cause: { self?: unknown } = {};
    cause.self = cause;
    const letter = { message: { ...message, value: null }, step: 's', reason: 'r', cause };
    expect(toDeadLetterMessage(letter, origin).headers?.['dlq-error']).toBe('object');
  });
});
