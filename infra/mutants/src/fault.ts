/** A one-line fault: what is replaced where, and the test file that must go red. */
export type Fault = {
  name: string;
  file: string;
  /** Must stand in the file exactly once. */
  find: string;
  replace: string;
  test: string;
};
