import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/*
 * `npx -y pnpm@12 start` is npx, which runs pnpm, which runs a shell, which runs this process. A signal to npx alone reaches none of
 * the others, so whoever started it that way would leave the whole stack behind.
 */

export type ProcessRow = { pid: number; parent: number; command: string };

const PACKAGE_MANAGER = /(?:^|\/)(?:npm|npx|pnpm)(?:-cli)?(?:\.[cm]?js)?(?:\s|$)/;
const SHELL_WITH_COMMAND = /^(?:\S*\/)?(?:sh|bash|dash|zsh) -c /;
const WATCH_EVERY_MS = 500;

/** The topmost package manager above a process, with nothing but package managers and their shells between. */
export const findLauncher = (processes: readonly ProcessRow[], pid: number): number | undefined => {
  const byPid = new Map(processes.map((row) => [row.pid, row]));
  let launcher: number | undefined;
  let above = byPid.get(byPid.get(pid)?.parent ?? 0);
  while (above !== undefined) {
    const isManager = PACKAGE_MANAGER.test(above.command);
    if (!isManager && !SHELL_WITH_COMMAND.test(above.command)) break;
    if (isManager) launcher = above.pid;
    above = byPid.get(above.parent);
  }
  return launcher;
};

const readProcesses = (): ProcessRow[] => {
  try {
    const output = execFileSync('ps', ['-Ao', 'pid=,ppid=,args='], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 * 1_048_576,
    });
    return output.split('\n').map((line) => {
      const [, pid = '', parent = '', command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return { pid: Number(pid), parent: Number(parent), command };
    });
  } catch {
    // No `ps`: whoever starts the stack ends it by the signals that reach it.
    return [];
  }
};

/** A process that has ended and was not waited for yet still takes signals. */
const isZombie = (pid: number): boolean => {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch {
    return false;
  }
};

/** Calls back once when the package manager that started this process is gone. */
export const onLauncherGone = (callback: () => void): void => {
  const launcher = findLauncher(readProcesses(), process.pid);
  if (launcher === undefined) return;
  const timer = setInterval(() => {
    if (isAlive(launcher)) return;
    clearInterval(timer);
    callback();
  }, WATCH_EVERY_MS);
  timer.unref();
};
