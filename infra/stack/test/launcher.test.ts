import { expect, test } from 'vitest';
import { findLauncher, type ProcessRow } from '../src/launcher.ts';

const row = (pid: number, parent: number, command: string): ProcessRow => ({ pid, parent, command });

const stack = row(50, 40, 'node infra/stack/src/start.ts');
const shell = row(40, 30, "sh -c trap '' INT; node infra/stack/src/start.ts");

test.for([
  {
    name: 'npx above pnpm above a shell',
    rows: [
      row(10, 1, 'bash'),
      row(20, 10, 'npm exec pnpm@12 start'),
      row(30, 20, 'pnpm start'),
      shell,
      stack,
    ],
    launcher: 20,
  },
  {
    name: 'npx by its script, which runs pnpm in a shell of its own',
    rows: [
      row(20, 1, 'node /usr/bin/npx -y pnpm@12 start'),
      row(25, 20, 'sh -c pnpm start'),
      row(30, 25, 'node /x/pnpm.cjs start'),
      shell,
      stack,
    ],
    launcher: 20,
  },
  { name: 'pnpm alone', rows: [row(30, 1, 'pnpm start'), shell, stack], launcher: 30 },
  {
    name: 'a script that runs pnpm is not watched: it may end before',
    rows: [row(20, 1, 'sh start-all.sh'), row(30, 20, 'pnpm start'), shell, stack],
    launcher: 30,
  },
  {
    name: 'a test runner out of pnpm’s store is no pnpm',
    rows: [row(40, 1, 'node /x/node_modules/.pnpm/vitest@5/vitest.mjs run'), stack],
    launcher: undefined,
  },
  { name: 'started by hand', rows: [row(40, 1, '-zsh'), stack], launcher: undefined },
  { name: 'no list of processes', rows: [], launcher: undefined },
])('$name', ({ rows, launcher }) => {
  expect(findLauncher(rows, 50)).toBe(launcher);
});
