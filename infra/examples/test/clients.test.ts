import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const CLIENTS = path.resolve(import.meta.dirname, '../../../docs/clients');

/** What is left of a file without comments, blank lines, imports and lone braces. */
const linesOfCode = (file: string): string[] => {
  const text = readFileSync(path.join(CLIENTS, file), 'utf8').replace(/^import \([\s\S]*?^\)/m, '');
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !/^(?:$|\/\/|\/\*\*|package |import |[)}]+$)/.test(line));
};

test.for(['go/selection.go', 'java/Selection.java'])('%s is a client in thirty lines', (file) => {
  expect(linesOfCode(file).length).toBeGreaterThan(20);
  expect(linesOfCode(file).length).toBeLessThanOrEqual(30);
});
