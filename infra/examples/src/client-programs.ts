import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CLIENTS = path.resolve(import.meta.dirname, '../../../docs/clients');
const COMPILE_MS = 120_000;
const RUN_MS = 30_000;

/** What the example program of a language asks about, apart from its own candidates. */
export type Asked = { url: string; timeoutMs: number; breakId: string; breakAt: number };

export type ClientProgram = {
  language: string;
  /** What must be on the PATH, and how to see that it is. */
  needs: readonly { command: string; args: readonly string[]; what: string }[];
  /** Compiles the client and its example into a folder. */
  compile(folder: string): Promise<void>;
  /** The JSON line that the example prints. */
  ask(folder: string, asked: Asked): Promise<string>;
};

const argumentsOf = ({ url, timeoutMs, breakId, breakAt }: Asked): string[] => [
  url,
  String(timeoutMs),
  breakId,
  String(breakAt),
];

const output = async (command: string, args: readonly string[]): Promise<string> =>
  (await run(command, args, { timeout: RUN_MS })).stdout.trim();

const go: ClientProgram = {
  language: 'Go',
  needs: [{ command: 'go', args: ['version'], what: 'Go 1.21 or newer' }],
  compile: async (folder) => {
    const cwd = path.join(CLIENTS, 'go');
    // Nothing but the standard library: what is not here is not fetched.
    const options = { cwd, timeout: COMPILE_MS, env: { ...process.env, GOPROXY: 'off', GOFLAGS: '' } };
    await run('go', ['vet', './...'], options);
    await run('go', ['build', '-o', path.join(folder, 'example-go'), './example'], options);
  },
  ask: (folder, asked) => output(path.join(folder, 'example-go'), argumentsOf(asked)),
};

const java: ClientProgram = {
  language: 'Java',
  needs: [
    { command: 'javac', args: ['-version'], what: 'a JDK 17 or newer' },
    { command: 'java', args: ['-version'], what: 'a JDK 17 or newer' },
  ],
  compile: async (folder) => {
    const classes = path.join(folder, 'java');
    await mkdir(classes, { recursive: true });
    const sources = ['Selection.java', 'Example.java'].map((file) => path.join(CLIENTS, 'java', file));
    await run('javac', ['--release', '17', '-Xlint:all', '-Werror', '-d', classes, ...sources], {
      timeout: COMPILE_MS,
    });
  },
  ask: (folder, asked) =>
    output('java', [
      '-XX:TieredStopAtLevel=1',
      '-cp',
      path.join(folder, 'java'),
      'Example',
      ...argumentsOf(asked),
    ]),
};

export const CLIENT_PROGRAMS: readonly ClientProgram[] = [go, java];

/** What is missing on this machine, a line each. */
export const missingTools = async (programs: readonly ClientProgram[]): Promise<string[]> => {
  const found = await Promise.all(
    programs
      .flatMap(({ needs }) => needs)
      .map(({ command, args, what }) =>
        run(command, args, { timeout: RUN_MS }).then(
          () => undefined,
          () => `${command} is not on the PATH: install ${what}`,
        ),
      ),
  );
  return found.filter((line) => line !== undefined);
};
