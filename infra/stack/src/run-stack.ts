import { once } from 'node:events';
import { announce, openStack, type Stack } from './open-stack.ts';
import { complain, say } from './say.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Aborted by the first signal; a second one of the same kind ends the process at once. */
const stopSignal = (): AbortController => {
  const stop = new AbortController();
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (stop.signal.aborted) return;
      say('stopping');
      stop.abort();
    });
  }
  return stop;
};

const untilStopped = async (stack: Stack, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return;
  await Promise.race([once(signal, 'abort'), stack.failed]);
};

/**
 * Runs the stack until Ctrl-C, or until `work` is done where it says so. Exit codes: 0 after a clean stop, 1 where it could not start,
 * could not be kept running, or the work failed.
 */
export const runStack = async (work: (stack: Stack) => Promise<'stay' | 'leave'>): Promise<void> => {
  const stop = stopSignal();
  try {
    await using stack = await openStack(stop.signal);
    announce(stack);
    if ((await work(stack)) === 'stay') await untilStopped(stack, stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) {
      complain(error instanceof Error ? error.message : String(error));
      process.exitCode = 1;
    }
  }
  process.exit();
};
