/** Where a run speaks and asks; main.ts connects it to the process. */
export type Terminal = {
  /** A line of the result, on the standard output. */
  out(line: string): void;
  /** A line about the run, on the standard error. */
  err(line: string): void;
  /** Asks at the terminal; `undefined` where there is nobody to ask. */
  ask: ((question: string) => Promise<string>) | undefined;
};
