import type { EpochMs, ImpressionEvent } from '@adcap/contracts';

/** That an impression was acknowledged; `at` is when it was watched. */
type DoneMark = { deviceId: string; name: string; at: EpochMs };

/**
 * What this and the other beacons have published in the last two minutes. Both methods take one round trip, fail open
 * and never throw: a store that is away, slow or wiped knows no marks, and what is then published again is counted once
 * by its fingerprint all the same.
 */
export type DoneMarks = {
  /** When what is marked was watched, in the order of the question. */
  find(names: readonly Pick<DoneMark, 'deviceId' | 'name'>[]): Promise<readonly (EpochMs | undefined)[]>;
  write(marks: readonly DoneMark[]): Promise<void>;
};

/** Names the mark of an impression: its fingerprint or, where only a moment identifies it, its device and creative. */
export type NameMark = (event: ImpressionEvent) => string;

/** Resolves once every event is acknowledged by all in-sync replicas; rejects when one may not be. */
export type PublishEvents = (events: readonly ImpressionEvent[]) => Promise<void>;
