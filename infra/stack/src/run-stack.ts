import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { announce, openStack, type Stack } from './open-stack.ts';
import { complain } from './say.ts';
import { stopSignal } from './stop-signal.ts';

/** A download or a server that is just starting is not waited for any longer. */
const GIVE_UP_AFTER_MS = 5_000;

const untilStopped = async (stack: Stack, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return;
  await Promise.race([once(signal, 'abort'), stack.failed]);
};

/** Rejects a while after a stop: by then a start that could be unwound has been. */
const abandon = async (signal: AbortSignal): Promise<never> => {
  if (!signal.aborted) await once(signal, 'abort');
  await delay(GIVE_UP_AFTER_MS);
  throw new Error('the start was given up');
};

/**
 * Runs the stack until Ctrl-C, or until `work` is done where it says so. Exit codes: 0 after a clean stop, 1 where it could not start,
 * could not be kept running, or the work failed.
 */
export const runStack = async (work: (stack: Stack) => Promise<'stay' | 'leave'>): Promise<void> => {
  const signal = stopSignal();
  try {
    await using stack = await Promise.race([openStack(signal), abandon(signal)]);
    announce(stack);
    const stopped = untilStopped(stack, signal);
    if ((await Promise.race([work(stack), stopped])) === 'stay') await stopped;
  } catch (error) {
    if (!signal.aborted) {
      complain(error instanceof Error ? error.message : String(error));
      process.exitCode = 1;
    }
  }
  process.exit();
};
