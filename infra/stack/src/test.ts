import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/*
 * pnpm test: every test on real servers. Ends with the count of the run's own report, alone on a line, in the form that readers of
 * test output know.
 */

const folder = mkdtempSync(path.join(tmpdir(), 'adcap-test-report-'));
const report = path.join(folder, 'report.json');
const root = path.resolve(import.meta.dirname, '../../..');

type Report = { numPassedTests: number; numFailedTests: number; numFailedTestSuites: number };

const readReport = (): Report => {
  try {
    return JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numFailedTestSuites: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const child = spawn(
  path.join(root, 'node_modules/.bin/vitest'),
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));

child.once('exit', (code) => {
  const { numPassedTests, numFailedTests, numFailedTestSuites } = readReport();
  // A file that could not even be read has no tests to fail.
  const failed = numFailedTests > 0 ? numFailedTests : Math.min(1, numFailedTestSuites);
  process.stdout.write(`${numPassedTests} passed, ${failed} failed\n`);
  process.exitCode = failed > 0 || numPassedTests === 0 ? 1 : (code ?? 1);
});
