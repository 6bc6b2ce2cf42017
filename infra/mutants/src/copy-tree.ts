import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Copies the tracked and new files of a checkout, so that faults are never planted in the original. Third-party packages are
 * shared with it; the links between workspace packages are relative and so lead to the copies.
 *
 * @returns the copy's folder
 */
export const copyTree = (root: string): string => {
  const copy = mkdtempSync(path.join(tmpdir(), 'adcap-mutants-'));
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
    .toString()
    .split('\n')
    .filter((file) => file !== '' && existsSync(path.join(root, file)));
  for (const file of files) {
    mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
    cpSync(path.join(root, file), path.join(copy, file));
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  for (const links of globSync('{packages,services,infra}/*/node_modules', { cwd: root })) {
    cpSync(path.join(root, links), path.join(copy, links), { recursive: true, verbatimSymlinks: true });
  }
  return copy;
};
