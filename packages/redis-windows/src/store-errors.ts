import { StoredFormatError } from './stored-format-error.ts';

/**
 * Answers of Redis that no later attempt changes: a key that something else has taken, or a value in it that is no
 * number.
 */
const DEAD_REPLY = /\bWRONGTYPE\b|not an integer|not a valid float|would overflow/;

/** What the server says when it reports an error that a command met inside a script: the code may stand anywhere. */
const isDeadReply = (error: Error): boolean => error.name === 'ReplyError' && DEAD_REPLY.test(error.message);

/**
 * Law 14: whether the same call may work later. True for TRYAGAIN, ASK, MOVED, CLUSTERDOWN, READONLY, LOADING,
 * MASTERDOWN, OOM, NOSCRIPT, a broken or missing connection and a timeout; false for WRONGTYPE and what cannot be
 * decoded. Total: what it does not know may be retried, because a stuck partition is seen and a lost impression is not.
 */
export const isRetryableStoreError = (error: unknown): boolean => {
  if (error instanceof StoredFormatError) return false;
  return !(error instanceof Error && isDeadReply(error));
};

/** Whether a write that failed may have been done all the same: the server has not said no, the answer was lost. */
export const mayHaveBeenDone = (error: unknown): boolean =>
  !(error instanceof Error && error.name === 'ReplyError');
