import type { CommitOutcome, DecisionReading, DecisionStore } from '@adcap/redis-windows';
import type { Writing } from '../domain/decide.ts';
import { parseStoredPod } from '../domain/stored-pod.ts';
import { type Deadline, DeadlineExceeded } from './deadline.ts';

export type Device = { deviceId: string; breakKey: string };

export type KeeperDeps = {
  store: Pick<DecisionStore, 'read' | 'commit' | 'release'>;
  onUndone: () => void;
  onFailure: (error: unknown, message: string) => void;
};

/** Writes what a decision holds, or says why it is not held. */
export type ReservationKeeper = (
  device: Device,
  of: { reading: DecisionReading; writing: Writing; deadline: Deadline },
) => Promise<CommitOutcome['kind'] | 'failed'>;

type Late = Device & { writing: Writing; podBefore: string | undefined };

/** One attempt to take a late commit back; false where another process was faster. */
const takeBackOnce = async (store: KeeperDeps['store'], late: Late): Promise<boolean> => {
  const { deviceId, breakKey, writing, podBefore } = late;
  const { version, nowMs, storedPod, reservations } = await store.read({
    deviceId,
    breakKey,
    sinceMs: writing.pod.expiresAt,
  });
  // The break has been decided anew since, or forgotten.
  if (storedPod !== JSON.stringify(writing.pod)) return true;
  if (podBefore === undefined) {
    await store.release({ deviceId, breakKey });
    return true;
  }
  const held = new Set(reservations.map(({ id }) => id));
  const outcome = await store.commit({
    deviceId,
    breakKey,
    expectedVersion: version,
    notAfterMs: Number.MAX_SAFE_INTEGER,
    remove: writing.add,
    // What was watched meanwhile is held no more.
    add: writing.remove.filter(({ id }) => held.has(id)),
    storedPod: podBefore,
    podExpiresAtMs: Math.max(nowMs + 1, parseStoredPod(podBefore)?.expiresAt ?? 0),
  });
  return outcome.kind !== 'conflict';
};

const MAX_ATTEMPTS = 3;

const takeBack = async (store: KeeperDeps['store'], late: Late): Promise<void> => {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    // Each attempt starts from what the one before has met.
    // oxlint-disable-next-line no-await-in-loop
    if (await takeBackOnce(store, late)) return;
  }
  throw new Error('other processes were faster each time');
};

/** With less than this a commit would only be refused, or done and taken back. */
const SHORTEST_COMMIT_MS = 1;

/**
 * The one write of a decision. A crash before or in it leaves nothing, after it what a retry is answered with. Failure policy:
 * never throws. Where the store's answer was lost with the connection it is not known whether the commit was done; if it
 * was, a retry is given what it holds, and without one it expires with the break.
 */
export const createReservationKeeper = ({ store, onUndone, onFailure }: KeeperDeps): ReservationKeeper => {
  return async (device, { reading, writing, deadline }) => {
    const leftMs = deadline.remainingMs();
    if (leftMs < SHORTEST_COMMIT_MS) return 'too_late';
    const committing = store.commit({
      ...device,
      expectedVersion: reading.version,
      notAfterMs: Math.floor(reading.nowMs + leftMs),
      remove: writing.remove,
      add: writing.add,
      storedPod: JSON.stringify(writing.pod),
      podExpiresAtMs: writing.pod.expiresAt,
    });
    const onLate = ({ kind }: CommitOutcome): void => {
      if (kind !== 'committed') return;
      onUndone();
      takeBack(store, { ...device, writing, podBefore: reading.storedPod }).catch((error: unknown) =>
        onFailure(error, 'a late commit could not be taken back; it expires by itself'),
      );
    };
    try {
      return (await deadline.race(committing, onLate)).kind;
    } catch (error) {
      if (error instanceof DeadlineExceeded) return 'too_late';
      onFailure(error, 'a commit failed');
      return 'failed';
    }
  };
};
