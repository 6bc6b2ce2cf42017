import {
  type CommitOutcome,
  type DecisionReading,
  type DecisionStore,
  mayHaveBeenDone,
} from '@adcap/redis-windows';
import type { Writing } from '../domain/decide.ts';
import { type Deadline, DeadlineExceeded } from './deadline.ts';
import type { LateCommits } from './late-commits.ts';

export type Device = { deviceId: string; breakKey: string };

export type KeeperDeps = {
  store: Pick<DecisionStore, 'commit'>;
  late: Pick<LateCommits, 'takeBack'>;
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
 * never throws. A commit that was done too late for its answer, or whose answer was lost with the connection, is taken back.
 */
export const createReservationKeeper = ({ store, late, onFailure }: KeeperDeps): ReservationKeeper => {
  return async (device, { reading, writing, deadline }) => {
    const leftMs = deadline.remainingMs();
    if (leftMs < SHORTEST_COMMIT_MS) return 'too_late';
    const notAfterMs = Math.floor(reading.nowMs + leftMs);
    const takeBack = (): void =>
      late.takeBack({ ...device, writing, podBefore: reading.storedPod, notAfterMs });
    const onLost = (error: unknown): void => {
      if (mayHaveBeenDone(error)) takeBack();
    };
    const committing = store.commit({
      ...device,
      expectedVersion: reading.version,
      notAfterMs,
      remove: writing.remove,
      add: writing.add,
      storedPod: JSON.stringify(writing.pod),
      podExpiresAtMs: writing.pod.expiresAt,
    });
    try {
      return (await deadline.race(committing)).kind;
    } catch (error) {
      if (error instanceof DeadlineExceeded) {
        committing.then(({ kind }) => kind === 'committed' && takeBack(), onLost);
        return 'too_late';
      }
      onFailure(error, 'a commit failed');
      onLost(error);
      return 'failed';
    }
  };
};
