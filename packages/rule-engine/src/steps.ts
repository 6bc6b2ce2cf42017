/** Work in short steps: between two of them whoever drives it may let others run. */
export type Steps<Result> = Generator<void, Result, void>;

/** All of it at once. */
export const finish = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
};
