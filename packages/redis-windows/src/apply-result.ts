import { refusalOf } from './script-codes.ts';
import { isRetryableStoreError } from './store-errors.ts';
import { StoredFormatError } from './stored-format-error.ts';

/**
 * What became of one impression. `new`: counted. `repeat`: it had been counted. `erased`: received before its device was
 * erased. `expired`: older than what is kept. `failed`: not applied; `retryable` says whether to try again.
 */
export type ApplyResult =
  | { kind: 'new' | 'repeat' | 'erased' | 'expired' }
  | { kind: 'failed'; retryable: boolean; error: unknown };

const NEW = 1;
const REPEAT = 0;

/** The outcome behind one number of an apply script's reply. */
export const applyResultOf = (code: number | undefined): ApplyResult => {
  if (code === NEW) return { kind: 'new' };
  if (code === REPEAT) return { kind: 'repeat' };
  const refusal = code === undefined ? undefined : refusalOf(code);
  if (refusal === 'erased' || refusal === 'expired') return { kind: refusal };
  return failedResult(new StoredFormatError(`an apply script answered ${code}`));
};

export const failedResult = (error: unknown): ApplyResult => ({
  kind: 'failed',
  retryable: isRetryableStoreError(error),
  error,
});

export const isRetryable = (result: ApplyResult): boolean => result.kind === 'failed' && result.retryable;
