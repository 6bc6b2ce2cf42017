import type { DegradedReason, Source } from '@adcap/contracts';
import type { DecisionReading, DecisionStore } from '@adcap/redis-windows';
import type { Deadline } from './deadline.ts';
import type { ReadRequest } from './guarded-read.ts';

/** A reading that may be decided from, what it was read from, and why it is less than it should be. */
type KnownReading = { reading: DecisionReading; source: Source; reason: DegradedReason | undefined };

export type CompleteReading = (
  reading: DecisionReading,
  of: { request: ReadRequest; deadline: Deadline },
) => Promise<KnownReading>;

/**
 * Law 12: a window that is complete as it is; for any other the device is read again, window and history together, at one
 * moment: an impression that turned its reservation into itself meanwhile is not both. Failure policy: where that cannot be
 * had in time, the window as it is, and said so.
 */
export const createCompleteReading =
  (deps: {
    store: Pick<DecisionStore, 'read'>;
    onFailure: (error: unknown, message: string) => void;
  }): CompleteReading =>
  async (reading, { request, deadline }) => {
    if (request.from === 'both') return { reading, source: 'history', reason: undefined };
    if (reading.isComplete) return { reading, source: 'quotas', reason: undefined };
    try {
      const whole = await deadline.race(deps.store.read({ ...request, from: 'both' }));
      return { reading: whole, source: 'history', reason: undefined };
    } catch (error) {
      deps.onFailure(error, 'the history could not be read');
      return { reading, source: 'quotas', reason: 'history_incomplete' };
    }
  };
