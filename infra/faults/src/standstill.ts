/** A span in which the load's own thread did not run, epoch ms. */
export type Standstill = { from: number; to: number };

/** Measures spans of time without the parts in which the whole machine, or at least the load, stood still. */
export const createStopwatch =
  (standstills: readonly Standstill[]) =>
  (from: number, to: number): number => {
    let lost = 0;
    for (const still of standstills) lost += Math.max(0, Math.min(to, still.to) - Math.max(from, still.from));
    return to - from - lost;
  };
