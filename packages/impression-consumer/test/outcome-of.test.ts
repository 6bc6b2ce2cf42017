import { deadLetter, drop, ok, retry } from '@adcap/kafka-bus';
import { expect, test } from 'vitest';
import { outcomeOf } from '../src/outcome-of.ts';

const error = new Error('from Redis');

test.for([
  ['new', { kind: 'new' }, ok],
  ['repeat', { kind: 'repeat' }, ok],
  ['erased', { kind: 'erased' }, drop('erased')],
  ['expired', { kind: 'expired' }, drop('expired')],
  ['failed for now', { kind: 'failed', retryable: true, error }, retry('store', error)],
  ['failed for good', { kind: 'failed', retryable: false, error }, deadLetter('store_refused', error)],
] as const)('outcomeOf an impression that is %s', ([, result, outcome]) => {
  expect(outcomeOf(result)).toStrictEqual(outcome);
});
