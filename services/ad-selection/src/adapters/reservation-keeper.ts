import type { CommitOutcome, DecisionReading, DecisionStore } from '@adcap/redis-windows';
import type { Writing } from '../domain/decide.ts';
import { parseStoredPod } from '../domain/stored-pod.ts';
import { type Deadline, DeadlineExceeded } from './deadline.ts';

export type Device = { deviceId: string; breakKey: string };

export type KeeperDeps = {
  store: Pick<DecisionStore, 'commit' | 'release'>;
  onUndone: () => void;
  onFailure: (error: unknown, message: string) => void;
};

/** Writes what a decision holds, or says why it is not held. */
export type ReservationKeeper = (
  device: Device,
  of: { reading: DecisionReading; writing: Writing; deadline: Deadline },
) => Promise<CommitOutcome['kind'] | 'failed'>;

/** With less than this a commit would only be refused, or done and taken back. */
const SHORTEST_COMMIT_MS = 1;

/**
 * The one write of a decision. A crash before or in it leaves nothing, after it what a retry is answered with. Failure policy:
 * never throws. Where the store's answer was lost with the connection it is not known whether the commit was done; if it
 * was, a retry is given what it holds, and without one it expires with the break.
 */
export const createReservationKeeper = ({ store, onUndone, onFailure }: KeeperDeps): ReservationKeeper => {
  /** Takes back a commit that came true after its decision was answered without it. */
  const undo = async (
    { deviceId, breakKey }: Device,
    writing: Writing,
    before: { version: number; pod: string | undefined },
  ): Promise<void> => {
    onUndone();
    if (before.pod === undefined) {
      await store.release({ deviceId, breakKey });
      return;
    }
    await store.commit({
      deviceId,
      breakKey,
      expectedVersion: before.version,
      notAfterMs: Number.MAX_SAFE_INTEGER,
      remove: writing.add,
      add: writing.remove,
      storedPod: before.pod,
      podExpiresAtMs: parseStoredPod(before.pod)?.expiresAt ?? writing.pod.expiresAt,
    });
  };

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
    const takeBack = (outcome: CommitOutcome): void => {
      if (outcome.kind !== 'committed') return;
      undo(device, writing, { version: outcome.version, pod: reading.storedPod }).catch((error: unknown) =>
        onFailure(error, 'a late commit could not be taken back; it expires by itself'),
      );
    };
    try {
      return (await deadline.race(committing, takeBack)).kind;
    } catch (error) {
      if (error instanceof DeadlineExceeded) return 'too_late';
      onFailure(error, 'a commit failed');
      return 'failed';
    }
  };
};
