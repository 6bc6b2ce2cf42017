import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { countTests, type TestReport } from './count-tests.ts';

/*
 * pnpm test: every test on real servers. Ends with the count of the run's own report, alone on a line, in the form that readers of
 * test output know.
 */

const folder = mkdtempSync(path.join(tmpdir(), 'adcap-test-report-'));
const reportFile = path.join(folder, 'report.json');
const root = path.resolve(import.meta.dirname, '../../..');

const readReport = (): TestReport | undefined => {
  try {
    return JSON.parse(readFileSync(reportFile, 'utf8'));
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
const given = process.argv.slice(2).filter((argument) => argument !== '--');
const child = spawn(path.join(root, 'node_modules/.bin/vitest'), ['run', ...reporters, ...given], {
  cwd: root,
  stdio: 'inherit',
});
// A terminal sends Ctrl-C to the runner as well; told twice, it would not tidy up.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));

child.once('exit', (code) => {
  const { passed, failed } = countTests(readReport(), code);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exitCode = failed > 0 ? 1 : 0;
});
