import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { complain } from './say.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
/** Over the services' own drain deadline of 10 s. */
const STOP_DEADLINE_MS = 12_000;
const RESTART_DELAY_MS = 500;
/** A service that ends so often is not helped by another start. */
const MAX_RESTARTS = 20;

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** One service as a child process, started again when it ends by itself, as compose would. */
export class ServiceProcess {
  readonly #name: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #logFile: string;
  readonly #stopping = new AbortController();
  #child: ChildProcess | undefined;
  #running: Promise<void> = Promise.resolve();
  /** Rejects when the service cannot be kept running. */
  readonly failed: Promise<never>;
  #fail: (error: Error) => void = () => undefined;

  constructor(name: string, options: { env: NodeJS.ProcessEnv; logDir: string }) {
    this.#name = name;
    this.#env = options.env;
    this.#logFile = path.join(options.logDir, `${name}.log`);
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    this.#running = this.#supervise();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#child?.kill('SIGTERM');
    const hurry = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_DEADLINE_MS);
    await this.#running;
    clearTimeout(hurry);
  }

  async #supervise(): Promise<void> {
    for (let starts = 0; !this.#stopping.signal.aborted; starts += 1) {
      if (starts > MAX_RESTARTS) {
        this.#fail(new Error(`${this.#name} does not stay up; see ${this.#logFile}`));
        return;
      }
      // A supervisor starts again only after the end of the run before.
      // oxlint-disable-next-line no-await-in-loop
      const how = await this.#runOnce();
      if (this.#stopping.signal.aborted) return;
      complain(`${this.#name} ended with ${how}; starting it again (log: ${this.#logFile})`);
      // oxlint-disable-next-line no-await-in-loop
      await delay(RESTART_DELAY_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  #runOnce(): Promise<string> {
    const log = openSync(this.#logFile, 'a');
    const child = spawn(process.execPath, ['src/main.ts'], {
      cwd: path.join(ROOT, 'services', this.#name),
      env: this.#env,
      stdio: ['ignore', log, log],
      // Ctrl-C is for whoever started the stack, who then stops the services in order.
      detached: true,
    });
    closeSync(log);
    alive.add(child);
    this.#child = child;
    return new Promise((resolve) => {
      const end = (how: string): void => {
        alive.delete(child);
        resolve(how);
      };
      child.once('error', (error) => end(error.message));
      child.once('exit', (code, signal) => end(String(signal ?? code)));
    });
  }
}
