import { type EpochMs, epochMs } from '@adcap/contracts';
import type { Cap } from './ladder.ts';
import { countInWindow, type Timeline } from './timeline.ts';

/** What is known about a device: what it watched, and what other breaks have been promised. */
export type Known = { watched: Timeline; reserved: Timeline };

/** Where a cap stands for one more view at an instant; `at` is the instant that decides, `room` may be negative. */
export type Standing = { used: number; reserved: number; at: EpochMs; room: number };

type Lanes = { watched: readonly EpochMs[]; reserved: readonly EpochMs[] };

const lanesOf = (known: Known, { rule, value }: Cap): Lanes => ({
  watched: known.watched.instantsOf(rule.dimension, value.key),
  reserved: known.reserved.instantsOf(rule.dimension, value.key),
});

const standingOf = (cap: Cap, lanes: Lanes, at: EpochMs): Standing => {
  const windowMs = cap.windowMs ?? 0;
  const used = countInWindow(lanes.watched, at, windowMs);
  const reserved = countInWindow(lanes.reserved, at, windowMs);
  return { used, reserved, at, room: cap.max - used - reserved };
};

/** The instant at T, or the later reserved one whose window holds T, that leaves the least room. */
const tightest = (cap: Cap, lanes: Lanes, at: EpochMs): Standing => {
  let least = standingOf(cap, lanes, at);
  for (const later of lanes.reserved) {
    if (later <= at || later - (cap.windowMs ?? 0) >= at) continue;
    const standing = standingOf(cap, lanes, later);
    if (standing.room < least.room) least = standing;
  }
  return least;
};

/**
 * Law 10: how much room a cap leaves for a view at `at`: at that instant, and at every later reserved instant of the
 * same value whose window holds it. A pod window knows no history: its room is its max.
 */
export const capStanding = (cap: Cap, known: Known, at: EpochMs): Standing =>
  cap.windowMs === null
    ? { used: 0, reserved: 0, at, room: cap.max }
    : tightest(cap, lanesOf(known, cap), at);

/** The earliest instant from `from` on at which the cap has room for one more view. */
export const nextRoom = (cap: Cap, known: Known, from: EpochMs): EpochMs => {
  const { windowMs } = cap;
  if (windowMs === null) return from;
  const lanes = lanesOf(known, cap);
  if (tightest(cap, lanes, from).room > 0) return from;
  // Room only grows at the instant at which something leaves the window.
  const leaving = [...lanes.watched, ...lanes.reserved]
    .map((at) => epochMs(at + windowMs))
    .filter((at) => at > from)
    .toSorted((a, b) => a - b);
  // Once everything has left, nothing is counted: the last instant always has room.
  return leaving.find((at) => tightest(cap, lanes, at).room > 0) ?? from;
};
