import { setImmediate as nextTurn } from 'node:timers/promises';

/** Between two of these everybody else has a turn. One step may itself take as long again. */
const SLICE_MS = 8;

/** Long work in slices: awaited after each step, it lets the event loop go on whenever a slice is over. */
export const createSlices = (): (() => Promise<void>) => {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < SLICE_MS) return;
    await nextTurn();
    begun = performance.now();
  };
};
