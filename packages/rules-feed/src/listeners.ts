import type { BusLogger } from '@adcap/kafka-bus';

/** Who wants to know of changes; one that fails is no reason not to tell the others. */
export const createListeners = <Change>(logger: BusLogger) => {
  const listeners = new Set<(change: Change) => void>();
  return {
    notify: (change: Change): void => {
      for (const listener of listeners) {
        try {
          listener(change);
        } catch (err) {
          logger.error({ err }, 'a listener to rule changes failed');
        }
      }
    },
    onChange: (listener: (change: Change) => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};
