import { type EpochMs, epochMs, LIMITS } from '@adcap/contracts';
import { deviceTag } from '@adcap/identity';
import type { Reservation, View } from '@adcap/rule-engine';
import type { ScriptArgument } from './define-script.ts';
import { type DeviceInspection, inspectDevice } from './device-inspection.ts';
import { decodeHistoryRecord, lackingInWindow, viewOfHistoryRecord } from './history-record.ts';
import type { Keys } from './keys.ts';
import { idBytes, readIds } from './packed-fields.ts';
import { clientOf, type RedisConnection } from './redis-connection.ts';
import { decodeReservations, encodeReservation } from './reservation-member.ts';
import { metaTtlMs, type Retention } from './retention.ts';
import { refusalOf } from './script-codes.ts';
import { commitReservations } from './scripts/commit-reservations.ts';
import { eraseDevice } from './scripts/erase-device.ts';
import { readDecision } from './scripts/read-decision.ts';
import { releaseBreak } from './scripts/release-break.ts';
import { StoredFormatError } from './stored-format-error.ts';
import { decodeViews, decodeWindow, type WindowMember } from './window-member.ts';

/** A device as it was at one moment. */
export type DecisionReading = {
  /** Redis TIME: what reservations live by. */
  nowMs: EpochMs;
  /** What a commit must name as the version that it was decided from. */
  version: number;
  /** The impressions later than `sinceMs`: of the quota window, by time, or of it and the history together. */
  views: View[];
  /** False where the window was read alone and lacks what the history has in that range: read both (law 12). */
  isComplete: boolean;
  /** The live ones, by expiry. */
  reservations: Reservation[];
  /** What the break that asks was given before. */
  storedPod: string | undefined;
};

export type DecisionRead = {
  deviceId: string;
  breakKey: string;
  sinceMs: number;
  /** Both: what either consumer has applied, each impression once. Costs three times a window alone. */
  from?: 'window' | 'both';
};

export type Commit = {
  deviceId: string;
  breakKey: string;
  expectedVersion: number;
  /** On Redis's clock. */
  notAfterMs: number;
  remove: readonly Reservation[];
  add: readonly Reservation[];
  /** `undefined` forgets the break. */
  storedPod: string | undefined;
  podExpiresAtMs: number;
};

/** `conflict`: read again. `too_late`: the caller has answered without it. `full`: the device holds too many. */
export type CommitOutcome =
  | { kind: 'committed'; version: number }
  | { kind: 'conflict' | 'too_late' | 'full' };

export type Erased = { history: number; window: number; reservations: number };

/**
 * What decisions read and reserve. Failure policy of every method: throws what the client throws, at once where there is
 * no connection, and leaves the deadline to its caller. Nothing is retried here. A call that threw may have been done;
 * a commit that was not can no longer be done after its `notAfterMs`.
 */
export type DecisionStore = {
  /** One atomic round trip. Writes nothing. */
  read(of: DecisionRead): Promise<DecisionReading>;
  /** All or nothing. */
  commit(commit: Commit): Promise<CommitOutcome>;
  /** Forgets a break; returns how many reservations it held. Also when there is nothing. */
  release(of: { deviceId: string; breakKey: string }): Promise<number>;
  inspect(deviceId: string): Promise<DeviceInspection>;
  erase(deviceId: string): Promise<Erased>;
};

/** The impressions of the window, and those that only the history has; its records a line each. */
const viewsOfBoth = (window: readonly WindowMember[], records: string): View[] => {
  const history = records === '' ? [] : records.split('\n').map(decodeHistoryRecord);
  return [...window, ...lackingInWindow(history, window).map(viewOfHistoryRecord)];
};

const REMOVE = '';

const addition = (reservation: Reservation): ScriptArgument[] => [
  reservation.expiresAt,
  encodeReservation(reservation),
];

const removal = (reservation: Reservation): ScriptArgument[] => [REMOVE, encodeReservation(reservation)];

const commitOutcome = (code: number): CommitOutcome => {
  if (code > 0) return { kind: 'committed', version: code };
  const refusal = refusalOf(code);
  if (refusal === 'conflict' || refusal === 'too_late' || refusal === 'full') return { kind: refusal };
  throw new StoredFormatError(`commit-reservations answered ${code}`);
};

/** Scores below 0 are guards, so a range that begins before 1970 begins there. */
const rangeStart = (sinceMs: number): number => Math.max(0, Math.floor(sinceMs));

export const createDecisionStore = (
  connection: RedisConnection,
  settings: { keys: Keys } & Retention,
): DecisionStore => {
  const metaTtl = metaTtlMs(settings);
  const keysOf = (deviceId: string) => settings.keys.device(deviceTag(deviceId));

  return {
    read: async ({ deviceId, breakKey, sinceMs, from = 'window' }) => {
      const keys = keysOf(deviceId);
      const reply = await readDecision.run(connection, {
        keys: { ...keys, pod: keys.pod(breakKey) },
        args: { sinceMs: rangeStart(sinceMs), withHistory: from === 'both' ? 1 : 0 },
      });
      return {
        nowMs: epochMs(reply.nowMs),
        version: reply.version,
        views:
          from === 'both'
            ? viewsOfBoth(decodeWindow(reply.members), reply.records.toString())
            : decodeViews(reply.members),
        isComplete: reply.isComplete || from === 'both',
        reservations: decodeReservations(reply.reservations),
        storedPod: reply.storedPod?.toString(),
      };
    },

    commit: async (commit) => {
      const keys = keysOf(commit.deviceId);
      const code = await commitReservations.run(connection, {
        keys: { ...keys, pod: keys.pod(commit.breakKey) },
        args: {
          expectedVersion: commit.expectedVersion,
          notAfterMs: commit.notAfterMs,
          liveLimit: LIMITS.liveReservations,
          metaTtlMs: metaTtl,
          storedPod: commit.storedPod ?? '',
          podExpiresAtMs: commit.podExpiresAtMs,
        },
        each: [...commit.remove.flatMap(removal), ...commit.add.flatMap(addition)],
      });
      return commitOutcome(code);
    },

    release: ({ deviceId, breakKey }) => {
      const keys = keysOf(deviceId);
      return releaseBreak.run(connection, {
        keys: { ...keys, pod: keys.pod(breakKey) },
        args: { breakKey: idBytes(breakKey), metaTtlMs: metaTtl },
      });
    },

    inspect: (deviceId) => inspectDevice(connection, keysOf(deviceId)),

    erase: async (deviceId) => {
      const keys = keysOf(deviceId);
      // 1. Everything but the stored pods, atomically. A crash after it leaves those; each has a TTL and counts nowhere.
      const { breakKeys, ...erased } = await eraseDevice.run(connection, {
        keys,
        args: { metaTtlMs: metaTtl },
      });
      // 2. The pods of the breaks that still held something; that of a break which held nothing goes by its TTL.
      const pods = [...new Set(readIds(breakKeys))].map((breakKey) => keys.pod(breakKey));
      if (pods.length > 0) await clientOf(connection).unlink(...pods);
      return erased;
    },
  };
};
