import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { LocalServer } from './local-server.ts';
import { LocalServerError } from './local-server-error.ts';
import { assertPortFree } from './ports.ts';
import { lastLine } from './run-command.ts';
import { whyNotAnswering } from './why-not-answering.ts';

const STOP_DEADLINE_MS = 15_000;

const alive = new Set<ChildProcess>();
// Whatever way this process ends, no server outlives it.
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** Reads a pipe that only the starter holds open; when that ends, gives the server ten seconds and then none. */
const REAPER = `read -r _
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -TERM "$1" 2>/dev/null || exit 0; sleep 1; done
kill -KILL "$1"`;

/** What ends a server whose starter was killed and so could not. Without a shell there is none, and no harm. */
const watchOver = (server: ChildProcess): ChildProcess => {
  const reaper = spawn('/bin/sh', ['-c', REAPER, 'adcap-reaper', String(server.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  reaper.on('error', () => undefined);
  reaper.stdin.on('error', () => undefined);
  reaper.unref();
  return reaper;
};

export type NativeCommand = {
  name: string;
  command: string;
  args: readonly string[];
  port: number;
  logFile: string;
  /** Resolves when the server answers a real request, rejects while it does not. */
  answers: () => Promise<void>;
};

const tail = (logFile: string): string => {
  try {
    return lastLine(readFileSync(logFile, 'utf8'));
  } catch {
    return 'no log';
  }
};

/** A server as a child process of its own group, so that Ctrl-C reaches whoever started it and not the server. */
export class NativeProcess {
  readonly #what: NativeCommand;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(what: NativeCommand) {
    this.#what = what;
  }

  /** Starts it and, where asked, waits until it answers; a server that does not is ended again. */
  async start(until: 'answering' | 'running' = 'answering'): Promise<void> {
    const { name, command, args, port, logFile } = this.#what;
    // Else whoever holds the port could answer in its place.
    await assertPortFree(port, name);
    const log = openSync(logFile, 'a');
    const child = spawn(command, args, { stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    alive.add(child);
    this.#child = child;
    const reaper = watchOver(child);
    let failure: string | undefined;
    this.#ended = new Promise((resolve) => {
      const end = (why: string): void => {
        failure = why;
        alive.delete(child);
        reaper.kill('SIGKILL');
        resolve();
      };
      child.once('error', (error) => end(error.message));
      child.once('exit', (code, signal) => end(`it ended with ${signal ?? code}`));
    });
    if (until === 'running') return;
    const why = await whyNotAnswering(this.#what.answers, () => failure);
    if (why === undefined) return;
    await this.kill();
    throw new LocalServerError(
      'DID_NOT_START',
      `${name} did not start: ${why}; ${logFile} ends: ${tail(logFile)}`,
    );
  }

  get pid(): number | undefined {
    return this.#child?.exitCode === null && this.#child.signalCode === null ? this.#child.pid : undefined;
  }

  get port(): number {
    return this.#what.port;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async stop(): Promise<void> {
    this.signal('SIGCONT');
    this.signal('SIGTERM');
    const hurry = setTimeout(() => this.signal('SIGKILL'), STOP_DEADLINE_MS);
    await this.#ended;
    clearTimeout(hurry);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#ended;
  }
}

/** A process as a local server. */
export const nativeServer = (process: NativeProcess, address: string): LocalServer => ({
  address,
  port: process.port,
  kind: 'native',
  get pid() {
    return process.pid;
  },
  stop: () => process.stop(),
  kill: () => process.kill(),
  restart: async (until) => {
    await process.stop();
    await process.start(until);
  },
  pause: async () => process.signal('SIGSTOP'),
  resume: async () => process.signal('SIGCONT'),
  [Symbol.asyncDispose]: () => process.stop(),
});
