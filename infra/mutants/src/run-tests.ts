import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

export type TestRun = { passed: number; failed: number; output: string };

type Report = { numPassedTests: number; numFailedTests: number };

const isReport = (value: unknown): value is Report =>
  typeof value === 'object' && value !== null && 'numPassedTests' in value && 'numFailedTests' in value;

const readReport = (file: string): Report => {
  try {
    const report: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isReport(report)) return report;
  } catch {
    // No report: the run ended before any test, which counts as nothing passed and nothing failed.
  }
  return { numPassedTests: 0, numFailedTests: 0 };
};

/** Runs test files in a copy and counts what its own report says. */
export const runTests = (copy: string, tests: readonly string[], env: NodeJS.ProcessEnv): TestRun => {
  const report = path.join(copy, 'mutants-report.json');
  rmSync(report, { force: true });
  const run = spawnSync(
    path.join(copy, 'node_modules/.bin/vitest'),
    ['run', '--bail', '1', '--reporter', 'json', '--outputFile', report, ...tests],
    { cwd: copy, env, encoding: 'utf8', timeout: 300_000 },
  );
  const { numPassedTests, numFailedTests } = readReport(report);
  return { passed: numPassedTests, failed: numFailedTests, output: `${run.stdout}${run.stderr}` };
};
