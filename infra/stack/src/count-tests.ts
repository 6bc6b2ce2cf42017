type FileResult = { status: string; assertionResults: readonly { status: string }[] };
/** The part of Vitest's JSON report that is counted. */
export type TestReport = { testResults: readonly FileResult[] };

export type TestCount = { passed: number; failed: number };

const countIn = ({ status, assertionResults }: FileResult): TestCount => {
  const count = (wanted: string): number =>
    assertionResults.filter((result) => result.status === wanted).length;
  const failed = count('failed');
  // A file that cannot be loaded, or whose hooks fail, has failed even where none of its tests has.
  return { passed: count('passed'), failed: failed === 0 && status === 'failed' ? 1 : failed };
};

/** What a run has come to. Without a report, or with a bad exit that no test explains, one thing has failed. */
export const countTests = (report: TestReport | undefined, exitCode: number | null): TestCount => {
  const files = (report?.testResults ?? []).map(countIn);
  const passed = files.reduce((sum, file) => sum + file.passed, 0);
  const failed = files.reduce((sum, file) => sum + file.failed, 0);
  const isUnexplained = failed === 0 && (exitCode !== 0 || passed === 0);
  return { passed, failed: isUnexplained ? 1 : failed };
};
