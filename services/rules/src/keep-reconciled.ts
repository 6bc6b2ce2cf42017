import { setTimeout as delay } from 'node:timers/promises';
import type { BusLogger } from '@adcap/kafka-bus';
import type { RuleBook } from './rule-book.ts';

/** Until there are any rules. */
const FIRST_LOOK_MS = 100;

/** Compares Redis and the topic now and then, until the signal; what cannot be done now is done in a later round. */
export const keepReconciled = async (
  book: Pick<RuleBook, 'reconcile' | 'known'>,
  { intervalMs, logger, signal }: { intervalMs: number; logger: BusLogger; signal: AbortSignal },
): Promise<void> => {
  let isTroubled = false;
  while (!signal.aborted) {
    try {
      await book.reconcile();
      isTroubled = false;
    } catch (err) {
      if (!isTroubled) logger.warn({ err }, 'Redis and the rules topic cannot be compared');
      isTroubled = true;
    }
    const waitMs = book.known() === undefined ? Math.min(FIRST_LOOK_MS, intervalMs) : intervalMs;
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
};
