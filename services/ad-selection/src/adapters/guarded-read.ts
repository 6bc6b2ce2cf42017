import { type DecisionReading, type DecisionStore, isRetryableStoreError } from '@adcap/redis-windows';
import CircuitBreaker from 'opossum';
import { Deadline, DeadlineExceeded } from './deadline.ts';

export type ReadRequest = Parameters<DecisionStore['read']>[0];

/** A reading, or why there is none. */
type GuardedReading =
  | { kind: 'read'; reading: DecisionReading }
  | { kind: 'failed'; reason: 'deadline' | 'store_error' | 'circuit_open'; error: unknown };

export type GuardedRead = {
  read(request: ReadRequest, deadline: Deadline): Promise<GuardedReading>;
  /** Why the newest read failed; `undefined` where it did not. */
  lastFailure(): string | undefined;
  close(): void;
};

/**
 * Half of at least so many reads within the last quarter of a second must have failed before calls stop waiting: with hundreds a
 * second few viewers wait for it, and with fewer than eighty it makes no difference.
 */
const BREAKER = {
  timeout: false,
  errorThresholdPercentage: 50,
  volumeThreshold: 20,
  rollingCountTimeout: 250,
  rollingCountBuckets: 5,
  resetTimeout: 250,
  // What is wrong with the data of one device says nothing about the store.
  errorFilter: (error: unknown) => !isRetryableStoreError(error),
} as const;

/** Ids of viewers have no blank at their end, so this one has nothing. */
const NOBODY: ReadRequest = { deviceId: 'adcap trial ', breakKey: 'trial', sinceMs: 0 };

const reasonOf = (error: unknown): 'deadline' | 'store_error' =>
  error instanceof DeadlineExceeded ? 'deadline' : 'store_error';

/** Time that passes between the start of a deadline and its first read. */
const FRESH_MS = 0.5;

/**
 * The decision read behind a circuit breaker: while the store fails, calls are told so at once, and every 250 ms a read for nobody
 * tries it. Not one of the calls: it would wait for a store that is gone, and without calls nobody would see it return.
 * The breaker judges the store by the configured limit alone: a caller in a greater hurry gets its own answer and
 * leaves no mark on others. Failure policy: never throws; a reading that is late or failed is a value.
 */
export const createGuardedRead = (store: Pick<DecisionStore, 'read'>, limitMs: number): GuardedRead => {
  const breaker = new CircuitBreaker(
    (request: ReadRequest) => new Deadline(limitMs).race(store.read(request)),
    BREAKER,
  );
  let failure: string | undefined;
  const failed = (reason: 'deadline' | 'store_error' | 'circuit_open', error: unknown): GuardedReading => {
    failure = error instanceof Error ? `${reason}: ${error.message}` : (failure ?? reason);
    return { kind: 'failed', reason, error };
  };
  const fire = (request: ReadRequest, deadline: Deadline): Promise<DecisionReading> => {
    const reading = breaker.fire(request);
    return deadline.remainingMs() < limitMs - FRESH_MS ? deadline.race(reading) : reading;
  };
  breaker.on('halfOpen', () => {
    breaker.fire(NOBODY).then(
      () => {
        failure = undefined;
      },
      (error: unknown) => failed(reasonOf(error), error),
    );
  });
  return {
    read: async (request, deadline) => {
      if (!breaker.closed) return failed('circuit_open', undefined);
      try {
        const reading = await fire(request, deadline);
        failure = undefined;
        return { kind: 'read', reading };
      } catch (error) {
        return failed(reasonOf(error), error);
      }
    },
    lastFailure: () => failure,
    close: () => breaker.shutdown(),
  };
};
