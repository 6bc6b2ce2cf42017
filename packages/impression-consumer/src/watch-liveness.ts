import type { Consumer } from '@adcap/kafka-bus';
import type { Clock } from '@adcap/service-runtime';

/** Redis answers or fails within a second, so a batch that is being applied for this long never ends by itself. */
export const STUCK_AFTER_MS = 30_000;
const LOOK_MS = 1_000;

/**
 * Reports once when a batch hangs, so that a supervisor starts the process again also where nobody asks /livez. The
 * answer ends the watch.
 */
export const watchLiveness = (
  consumer: Pick<Consumer, 'isStuck'>,
  clock: Clock,
  onStuck: (error: Error) => void,
): (() => void) => {
  const timer = setInterval(() => {
    if (!consumer.isStuck(clock.nowMs(), STUCK_AFTER_MS)) return;
    clearInterval(timer);
    onStuck(new Error(`a batch is being applied for more than ${STUCK_AFTER_MS} ms`));
  }, LOOK_MS);
  return () => clearInterval(timer);
};
