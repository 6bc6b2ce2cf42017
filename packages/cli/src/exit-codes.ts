/** How a run ended, for scripts. Each is explained in the README. */
export const EXIT = {
  ok: 0,
  /** The rule set is wrong, or odd and that was not allowed. */
  wrongRules: 1,
  /** The call is wrong: an unknown option, no token, a file that cannot be read. */
  usage: 2,
  /** Nothing was changed, because nobody said yes. */
  notConfirmed: 3,
  /** Nothing was changed: somebody else was faster. */
  stale: 4,
  /** Nothing was changed: the service refused it. */
  refused: 5,
  /** Nothing was changed: the service, its store or its event stream is away. */
  unavailable: 6,
  /** It is in force, or may be: read the rules before sending anything again. */
  uncertain: 7,
  /** `diff --exit-code`: the file would change something. */
  differs: 8,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
