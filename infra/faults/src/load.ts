import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Answered } from './answered.ts';
import type { Standstill } from './standstill.ts';

export type LoadPlan = {
  url: string;
  rate: number;
  devices: number;
  /** Device ids are this and a number; break ids begin with it. */
  devicePrefix: string;
  /** Of the first break; each is a millisecond after the one before, so that its instant tells it from all others. */
  breakAt: number;
};

export type LoadReport = { answered: Answered[]; standstills: Standstill[] };

export type Load = AsyncDisposable & {
  /** Everything that was answered so far, in the order of the answers. */
  answered: readonly Answered[];
  standstills: readonly Standstill[];
  /** Sends nothing more and waits for what is under way. */
  stop(): Promise<void>;
  /** Rejects when the load itself breaks. */
  failed: Promise<never>;
};

const WORKER = new URL('./load-worker.ts', import.meta.url);

/** Starts to ask for decisions at a constant rate. */
export const startLoad = (plan: LoadPlan): Load => {
  const answered: Answered[] = [];
  const standstills: Standstill[] = [];
  const worker = new Worker(WORKER, { workerData: plan });
  const ended = once(worker, 'exit');
  const failed = ended.then((): never => {
    throw new Error('the load has ended');
  });
  failed.catch(() => undefined);
  worker.on('message', (report: LoadReport) => {
    answered.push(...report.answered);
    standstills.push(...report.standstills);
  });
  return {
    answered,
    standstills,
    failed,
    stop: async () => {
      // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
      worker.postMessage('stop');
      await ended;
    },
    [Symbol.asyncDispose]: async () => {
      await worker.terminate();
    },
  };
};
