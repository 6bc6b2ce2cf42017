import { expect, test } from 'vitest';
import { countTests } from '../src/count-tests.ts';

const file = (status: string, ...results: string[]) => ({
  status,
  assertionResults: results.map((result) => ({ status: result })),
});

test.for([
  { name: 'all passed', files: [file('passed', 'passed', 'passed')], exit: 0, passed: 2, failed: 0 },
  { name: 'one failed', files: [file('failed', 'passed', 'failed')], exit: 1, passed: 1, failed: 1 },
  {
    name: 'a file that cannot be loaded counts beside the tests that failed',
    files: [file('failed', 'failed'), file('failed'), file('passed', 'passed')],
    exit: 1,
    passed: 1,
    failed: 2,
  },
  { name: 'a hook that failed', files: [file('failed', 'passed')], exit: 1, passed: 1, failed: 1 },
  { name: 'no test at all', files: [], exit: 0, passed: 0, failed: 1 },
  { name: 'only skipped ones', files: [file('passed', 'pending')], exit: 0, passed: 0, failed: 1 },
  {
    name: 'an error outside of every test',
    files: [file('passed', 'passed')],
    exit: 1,
    passed: 1,
    failed: 1,
  },
  { name: 'ended by a signal', files: [file('passed', 'passed')], exit: null, passed: 1, failed: 1 },
])('$name', ({ files, exit, passed, failed }) => {
  expect(countTests({ testResults: files }, exit)).toEqual({ passed, failed });
});

test('no report is one failure', () => {
  expect(countTests(undefined, 0)).toEqual({ passed: 0, failed: 1 });
});
