/** Timers of the platform end at once where they are told more. */
const LONGEST_MS = 2 ** 31 - 1;

/** Platform timers take whole milliseconds only, and what is left of a budget seldom is one. */
export const timeLimit = (timeoutMs: number): number => {
  if (!(timeoutMs > 0)) throw new RangeError(`timeoutMs must be above 0, not ${timeoutMs}`);
  return Math.min(Math.ceil(timeoutMs), LONGEST_MS);
};
