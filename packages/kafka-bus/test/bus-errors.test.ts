import { describe, expect, test } from 'vitest';
import {
  BusOverloaded,
  BusRefused,
  BusUnavailable,
  brokerErrorType,
  isRetryableBusError,
} from '../src/bus-errors.ts';

const named = (name: string, more: object = {}): Error => Object.assign(new Error(name), { name, ...more });

const cyclic = (): Error => {
  const error = new Error('a');
  error.cause = error;
  return error;
};

describe('isRetryableBusError', () => {
  test.for<[string, unknown, boolean]>([
    ['the brokers are away', new BusUnavailable('away'), true],
    ['too much waits', new BusOverloaded('full'), true],
    ['the brokers refuse', new BusRefused('too large'), false],
    ['a lost connection', named('KafkaJSConnectionError'), true],
    ['a refused socket', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), true],
    [
      'retries used up on a lost connection',
      named('KafkaJSNumberOfRetriesExceeded', { cause: named('KafkaJSConnectionClosedError') }),
      true,
    ],
    [
      'no coordinator yet, which kafkajs calls final',
      named('KafkaJSGroupCoordinatorNotFound', { retriable: false }),
      true,
    ],
    [
      'a topic that is not there yet',
      named('KafkaJSProtocolError', { type: 'UNKNOWN_TOPIC_OR_PARTITION' }),
      true,
    ],
    [
      'a protocol error that the broker calls passing',
      named('KafkaJSProtocolError', { retriable: true, type: 'X' }),
      true,
    ],
    [
      'a message too large',
      named('KafkaJSProtocolError', { retriable: false, type: 'MESSAGE_TOO_LARGE' }),
      false,
    ],
    ['a codec that is not there', named('KafkaJSNotImplemented', { retriable: false }), false],
    [
      'a plain kafkajs error, whose flag is true by default',
      named('KafkaJSError', { retriable: true }),
      false,
    ],
    ['a bug', new TypeError('x is not a function'), false],
    ['a cyclic cause', cyclic(), false],
    ['a string', 'ECONNREFUSED', false],
    ['null', null, false],
    ['undefined', undefined, false],
  ])('%s', ([, error, retryable]) => {
    expect(isRetryableBusError(error)).toBe(retryable);
  });
});

describe('brokerErrorType', () => {
  test('finds the type in the chain of causes', () => {
    const error = named('KafkaJSNonRetriableError', { cause: named('x', { type: 'ILLEGAL_GENERATION' }) });
    expect(brokerErrorType(error)).toBe('ILLEGAL_GENERATION');
    expect(brokerErrorType(cyclic())).toBeUndefined();
    expect(brokerErrorType(7)).toBeUndefined();
  });
});
