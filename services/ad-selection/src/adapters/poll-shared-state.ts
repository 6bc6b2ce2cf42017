import type { SharedReading, SharedState } from '@adcap/redis-windows';

export type SharedStatePoll = {
  /** The first reading, or that there is none. */
  first: Promise<void>;
  /**
   * For whoever is about to read a device: answers of Redis come in the order of the questions, so what is read here is
   * known when the device is. At most one in 10 ms; costs its caller nothing.
   */
  refresh(): void;
  close(): Promise<void>;
};

const EVERY_MS = 100;
const NOT_BEFORE_MS = 10;

/** Failure policy: never throws; while Redis is away nothing is read, and the next turn tries again. */
export const pollSharedState = (deps: {
  state: Pick<SharedState, 'read' | 'epoch'>;
  onReading: (reading: SharedReading) => void;
  onTurn: () => void;
}): SharedStatePoll => {
  const { state, onReading, onTurn } = deps;
  let reading: Promise<void> | undefined;
  let startedAt = Number.NEGATIVE_INFINITY;
  let epoch: number | undefined;

  const read = async (): Promise<void> => {
    try {
      onReading(await state.read());
    } catch {
      // Away: what was known stays, and ages.
    }
  };
  /** Never two at once: a Redis that does not answer is not asked ten times a second. */
  const start = (): Promise<void> => {
    startedAt = performance.now();
    epoch = state.epoch();
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const first = start();
  const timer = setInterval(() => {
    onTurn();
    void start();
  }, EVERY_MS);

  return {
    first,
    refresh: () => {
      if (performance.now() - startedAt < NOT_BEFORE_MS && state.epoch() === epoch) return;
      void start();
    },
    close: async () => {
      clearInterval(timer);
      await reading;
    },
  };
};
