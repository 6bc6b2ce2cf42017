import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lastWords } from './last-words.ts';
import { complain } from './say.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const END_WITH_PARENT = new URL('./end-with-parent.ts', import.meta.url);
/** Over the services' own drain deadline of 10 s. */
const STOP_DEADLINE_MS = 12_000;
const RESTART_DELAY_MS = 500;
/** A service that ends so often in a row is not helped by another start. */
const MAX_RESTARTS = 20;
/** One that stayed up so long starts anew with its count. */
const STABLE_AFTER_MS = 60_000;

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

export type ServiceProcessOptions = { env: NodeJS.ProcessEnv; logDir: string; main?: string };

/** One service as a child process, started again when it ends by itself, as compose would. */
export class ServiceProcess {
  readonly #name: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #main: string;
  readonly #logFile: string;
  readonly #stopping = new AbortController();
  #child: ChildProcess | undefined;
  #running: Promise<void> = Promise.resolve();
  #wasReady = false;
  /** Rejects when the service does not come up or cannot be kept running. */
  readonly failed: Promise<never>;
  #fail: (error: Error) => void = () => undefined;

  constructor(name: string, options: ServiceProcessOptions) {
    this.#name = name;
    this.#env = options.env;
    this.#main = options.main ?? path.join(ROOT, 'services', name, 'src/main.ts');
    this.#logFile = path.join(options.logDir, `${name}.log`);
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Each stack begins with an empty log; what a restarted service says is added. */
  start(): void {
    closeSync(openSync(this.#logFile, 'a'));
    truncateSync(this.#logFile);
    this.#running = this.#supervise();
  }

  /** From now on an end is a crash, and no failed start. */
  markReady(): void {
    this.#wasReady = true;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#child?.kill('SIGTERM');
    const hurry = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_DEADLINE_MS);
    await this.#running;
    clearTimeout(hurry);
  }

  async #supervise(): Promise<void> {
    for (let restarts = 0; !this.#stopping.signal.aborted; restarts += 1) {
      const from = performance.now();
      // A supervisor starts again only after the end of the run before.
      // oxlint-disable-next-line no-await-in-loop
      const how = await this.#runOnce();
      if (this.#stopping.signal.aborted) return;
      const what = `${this.#name} ended with ${how} (${lastWords(this.#logFile)})`;
      if (performance.now() - from > STABLE_AFTER_MS) restarts = 0;
      if (!this.#wasReady || restarts >= MAX_RESTARTS) {
        const when = this.#wasReady ? `${restarts + 1} times in a row` : 'before it was ready';
        this.#fail(new Error(`${what} ${when}; its log is ${this.#logFile}`));
        return;
      }
      complain(`${what}; starting it again; its log is ${this.#logFile}`);
      // oxlint-disable-next-line no-await-in-loop
      await delay(RESTART_DELAY_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  #runOnce(): Promise<string> {
    const log = openSync(this.#logFile, 'a');
    const child = spawn(process.execPath, ['--import', END_WITH_PARENT.href, this.#main], {
      cwd: ROOT,
      env: this.#env,
      stdio: ['ignore', log, log, 'ipc'],
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
      child.once('exit', (code, signal) => end(signal ?? `code ${code}`));
    });
  }
}
