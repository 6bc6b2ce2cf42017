import { type EpochMs, epochMs, type ImpressionEvent } from '@adcap/contracts';
import { breakKeyOf, valueKeyOf } from '@adcap/identity';
import { viewOfImpression } from '@adcap/redis-windows';
import type { Reservation, View } from '@adcap/rule-engine';
import type { Writing } from '../../src/domain/decide.ts';
import type { StoredPod } from '../../src/domain/stored-pod.ts';

/** A commit whose decision was answered without it: somebody takes it back, at some time. */
export type Ghost = { breakKey: string; writing: Writing; podBefore: StoredPod | undefined };

/** All that there is of a device, said as plainly as possible. Never changed: each step makes another. */
export type DeviceState = {
  /** What each consumer has applied, by fingerprint. */
  window: ReadonlyMap<string, ImpressionEvent>;
  history: ReadonlyMap<string, ImpressionEvent>;
  reservations: readonly Reservation[];
  pods: ReadonlyMap<string, StoredPod>;
  ghosts: readonly Ghost[];
};

export const NOTHING_YET: DeviceState = {
  window: new Map(),
  history: new Map(),
  reservations: [],
  pods: new Map(),
  ghosts: [],
};

export type Consumer = 'window' | 'history';

/** Every impression that either consumer has applied, once. */
export const watchedBy = (
  state: DeviceState,
  consumers: readonly Consumer[] = ['history', 'window'],
): View[] =>
  [...new Map(consumers.flatMap((consumer) => [...state[consumer]])).values()].map((event) => ({
    ...viewOfImpression(event),
    at: epochMs(event.at),
  }));

/** The instants that matter between two: what expires in between may or may not have. */
export const instantsBetween = (
  { reservations, pods }: DeviceState,
  { from, to }: { from: number; to: number },
): EpochMs[] => {
  const expiries = [...reservations, ...pods.values()].map(({ expiresAt }) => expiresAt);
  const near = expiries.filter((at) => at >= from - 1 && at <= to + 1).flatMap((at) => [at - 1, at, at + 1]);
  return [...new Set([from, ...near])].map(epochMs);
};

const answeredBy = (
  reservations: readonly Reservation[],
  event: ImpressionEvent,
): Reservation | undefined => {
  const isPlace = (one: Reservation): boolean =>
    event.breakId !== undefined &&
    one.breakKey === breakKeyOf(event.sessionId, event.breakId) &&
    one.slot === event.slot &&
    one.creative === valueKeyOf(event.creativeId) &&
    one.grantedAt <= event.receivedAt;
  return (
    reservations.find(({ id }) => id === event.fingerprint) ??
    reservations.toSorted((a, b) => a.expiresAt - b.expiresAt).find(isPlace)
  );
};

/** A consumer applies an impression: it counts once, and turns the reservation that it answers into itself. */
export const applyImpression = (
  state: DeviceState,
  consumer: Consumer,
  event: ImpressionEvent,
): DeviceState => {
  const answered = answeredBy(state.reservations, event);
  return {
    ...state,
    [consumer]: new Map([
      ...state[consumer],
      [event.fingerprint, state[consumer].get(event.fingerprint) ?? event],
    ]),
    reservations: state.reservations.filter((one) => one !== answered),
  };
};

export const release = (state: DeviceState, breakKey: string): DeviceState => ({
  ...state,
  reservations: state.reservations.filter((one) => one.breakKey !== breakKey),
  pods: new Map([...state.pods].filter(([key]) => key !== breakKey)),
});

export const commit = (state: DeviceState, breakKey: string, { remove, add, pod }: Writing): DeviceState => {
  const removed = new Set(remove.map(({ id }) => id));
  return {
    ...state,
    reservations: [...state.reservations.filter(({ id }) => !removed.has(id)), ...add],
    pods: new Map([...state.pods, [breakKey, pod]]),
  };
};

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A ghost is taken back, unless somebody has built upon it. */
export const layGhost = (state: DeviceState, ghost: Ghost): DeviceState => {
  const rest = { ...state, ghosts: state.ghosts.filter((one) => one !== ghost) };
  const { breakKey, writing, podBefore } = ghost;
  if (!isSame(state.pods.get(breakKey), writing.pod)) return rest;
  const held = new Set(state.reservations.map(({ id }) => id));
  const gone = new Set(writing.add.map(({ id }) => id));
  const pods = new Map([...state.pods].filter(([key]) => key !== breakKey));
  return {
    ...rest,
    reservations: [
      ...state.reservations.filter(({ id }) => !gone.has(id)),
      ...writing.remove.filter(({ id }) => held.has(id)),
    ],
    pods: podBefore === undefined ? pods : pods.set(breakKey, podBefore),
  };
};

const names = new WeakMap<DeviceState, string>();

/** One text for one state, whatever the order in which it came about. */
export const nameOf = (state: DeviceState): string => {
  const name = names.get(state) ?? makeName(state);
  names.set(state, name);
  return name;
};

const makeName = (state: DeviceState): string =>
  JSON.stringify([
    [...state.window.keys()].toSorted(),
    [...state.history.keys()].toSorted(),
    state.reservations.map((one) => JSON.stringify(one)).toSorted(),
    [...state.pods].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    state.ghosts,
  ]);
