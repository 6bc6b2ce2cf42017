import { type ChildProcess, spawn } from 'node:child_process';

const running = new Set<ChildProcess>();
// A download does not go on for a process that is gone.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export type CommandResult = { code: number | null; output: string; missing: boolean };

/** Runs a command to its end and gives what it printed; a command that does not exist is `missing`, not an exception. */
export const runCommand = (
  command: string,
  args: readonly string[],
  options: { cwd?: string; timeoutMs?: number } = {},
): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
    });
    running.add(child);
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = `${output}${chunk.toString()}`.slice(-20_000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => {
      running.delete(child);
      resolve({ code: null, output: error.message, missing: true });
    });
    child.once('close', (code) => {
      running.delete(child);
      resolve({ code, output, missing: false });
    });
  });

const STACK_FRAME = /^(at |\.\.\. \d+ more)/;

/** The last line of an output that says something. */
export const lastLine = (output: string): string =>
  output
    .split('\n')
    .map((line) => line.trim())
    .findLast((line) => line !== '' && !STACK_FRAME.test(line)) ?? 'no output';
