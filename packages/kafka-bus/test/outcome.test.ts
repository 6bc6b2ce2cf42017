import { expect, test } from 'vitest';
import { deadLetter, drop, ok, retry } from '../src/outcome.ts';

test('the constructors name the kind, the reason and the cause', () => {
  const cause = new Error('WRONGTYPE');
  expect(ok).toEqual({ kind: 'ok' });
  expect(drop('erased')).toEqual({ kind: 'drop', reason: 'erased' });
  expect(retry('store_unreachable', cause)).toEqual({ kind: 'retry', reason: 'store_unreachable', cause });
  expect(deadLetter('wrong_type', cause)).toEqual({ kind: 'deadLetter', reason: 'wrong_type', cause });
});
