import { setTimeout as delay } from 'node:timers/promises';
import type { EpochMs } from '@adcap/contracts';
import type { DecisionStore } from '@adcap/redis-windows';
import type { Writing } from '../domain/decide.ts';
import { parseStoredPod } from '../domain/stored-pod.ts';

/** A commit that was, or may have been, done after its decision was answered without it. */
type LateCommit = {
  deviceId: string;
  breakKey: string;
  writing: Writing;
  /** What the break had before. */
  podBefore: string | undefined;
  /** On Redis's clock: after it the commit can no longer be done. */
  notAfterMs: number;
};

export type LateCommits = {
  takeBack(late: LateCommit): void;
  close(): void;
};

export type LateCommitsDeps = {
  store: Pick<DecisionStore, 'read' | 'commit'>;
  nowMs: () => EpochMs;
  onUndone: () => void;
  onFailure: (error: unknown, message: string) => void;
};

const RETRY_MS = 250;
/** Commits under way when a store goes away, many times over. What is beyond expires by itself. */
const MAX_PENDING = 10_000;

/**
 * One attempt: `again` where another process was faster or the commit may still come. It takes back only what nobody has built
 * upon: a retry of the break confirms the stored pod, and a later round or a move replaces it.
 */
const attempt = async (
  store: LateCommitsDeps['store'],
  { deviceId, breakKey, writing, podBefore, notAfterMs }: LateCommit,
): Promise<'undone' | 'settled' | 'again'> => {
  const reading = await store.read({ deviceId, breakKey, sinceMs: writing.pod.expiresAt });
  if (reading.storedPod !== JSON.stringify(writing.pod))
    return reading.nowMs > notAfterMs ? 'settled' : 'again';
  const held = new Set(reading.reservations.map(({ id }) => id));
  const { kind } = await store.commit({
    deviceId,
    breakKey,
    expectedVersion: reading.version,
    notAfterMs: Number.MAX_SAFE_INTEGER,
    remove: writing.add,
    // What was watched meanwhile is held no more.
    add: writing.remove.filter(({ id }) => held.has(id)),
    storedPod: podBefore,
    podExpiresAtMs: Math.max(reading.nowMs + 1, parseStoredPod(podBefore)?.expiresAt ?? 0),
  });
  return kind === 'conflict' ? 'again' : 'undone';
};

/**
 * Takes late commits back, in the background and for as long as the store is away: a decision that was answered without its
 * reservation leaves none behind. Failure policy: never throws; what is still pending when the process ends, or when the break
 * is over, expires by itself.
 */
export const createLateCommits = ({ store, nowMs, onUndone, onFailure }: LateCommitsDeps): LateCommits => {
  let waiting: LateCommit[] = [];
  const closed = new AbortController();
  let isRunning = false;

  const isOver = ({ writing }: LateCommit): boolean => writing.pod.expiresAt <= nowMs();

  /** Goes through all once, one after the other; throws where the store is away, with the rest still waiting. */
  const pass = async (): Promise<void> => {
    const round = waiting.filter((late) => !isOver(late));
    waiting = [];
    try {
      for (let late = round[0]; late !== undefined; late = round[0]) {
        // oxlint-disable-next-line no-await-in-loop
        const outcome = await attempt(store, late);
        round.shift();
        if (outcome === 'undone') onUndone();
        if (outcome === 'again') waiting.push(late);
      }
    } finally {
      waiting.push(...round);
    }
  };

  const run = async (): Promise<void> => {
    while (waiting.length > 0 && !closed.signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop
      await pass().catch((error: unknown) => onFailure(error, 'late commits cannot be taken back yet'));
      if (waiting.length === 0) break;
      // oxlint-disable-next-line no-await-in-loop
      await delay(RETRY_MS, undefined, { signal: closed.signal, ref: false }).catch(() => undefined);
    }
    isRunning = false;
  };

  return {
    takeBack: (late) => {
      if (waiting.length >= MAX_PENDING || closed.signal.aborted) return;
      waiting.push(late);
      if (isRunning) return;
      isRunning = true;
      void run();
    },
    close: () => closed.abort(),
  };
};
