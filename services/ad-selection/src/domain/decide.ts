import { type EpochMs, type ErrorCode, epochMs, type PodPlace } from '@adcap/contracts';
import {
  countedAs,
  durationOf,
  type Fate,
  type Known,
  keepFitting,
  type Pod,
  type Reservation,
  toAd,
} from '@adcap/rule-engine';
import type { Ask, Decided, Knowledge, Setting } from './ask.ts';
import { whyEmpty } from './empty-slots.ts';
import { answersOf, fateOf, type Judged, judgeEntries, judgePlaced, knownTo } from './evaluate-entries.ts';
import type { StoredPlace, StoredPod, StoredRound } from './stored-pod.ts';
import type { AdFacts } from './to-entries.ts';

/** What has to be written for an answer to hold: all of it or none. */
export type Writing = { remove: readonly Reservation[]; add: readonly Reservation[]; pod: StoredPod };

export type Decision =
  /** `writing` is missing where nothing is held. */
  | { kind: 'decided'; decided: Decided; judged: readonly Judged[]; writing: Writing | undefined }
  /**
   * The break was answered before, in this round and at this instant. `writing` confirms it, once: until then who stored it may
   * not have been able to say so, and takes it back.
   */
  | { kind: 'stored'; round: StoredRound; writing: Writing | undefined }
  | { kind: 'refused'; code: ErrorCode; detail: string };

type Deciding = {
  ask: Ask;
  knowledge: Knowledge;
  setting: Setting;
  known: Known;
  judged: readonly Judged[];
  /** What this break holds itself. */
  own: readonly Reservation[];
};

const reservationOf = (
  place: StoredPlace,
  { setting, at, expiresAt }: { setting: Setting; at: EpochMs; expiresAt: EpochMs },
): Reservation => ({
  ...countedAs(toAd(place, setting.keyOf)),
  id: setting.idOf(place.reservationId),
  breakKey: setting.breakKey,
  slot: place.slot,
  at,
  expiresAt,
  grantedAt: epochMs(place.grantedAt),
});

const placesOf = ({ ask, setting, judged }: Deciding, fates: readonly Fate[]): StoredPlace[] =>
  judged.flatMap(({ entry }, position) => {
    const fate = fates[position];
    if (fate?.kind !== 'placed') return [];
    const { value: _value, ...facts } = entry.candidate;
    const reservationId = setting.grant({ slot: fate.slot, facts });
    const { nowMs: grantedAt } = setting;
    return { ...facts, slot: fate.slot, round: ask.round, index: entry.index, reservationId, grantedAt };
  });

const podOf = (places: readonly StoredPlace[], indexOf: (place: StoredPlace) => number | null): PodPlace[] =>
  places
    .toSorted((a, b) => a.slot - b.slot)
    .map((place) => ({
      slot: place.slot,
      index: indexOf(place),
      creativeId: place.creativeId,
      reservationId: place.reservationId,
    }));

/** A place that is neither exempt nor held any more was watched: what was held turned into its impression. */
const isWatched = (deciding: Deciding, place: StoredPlace): boolean =>
  !place.exempt && !deciding.own.some(({ id }) => id === deciding.setting.idOf(place.reservationId));

/** When the break is over and its promises are void; whole milliseconds, as the store wants them. */
const expiryOf = ({ ask, setting }: Deciding, places: readonly AdFacts[]): EpochMs => {
  const lengthMs = places.reduce((sum, place) => sum + durationOf(place), 0);
  return epochMs(ask.breakAt + Math.ceil(lengthMs) + setting.graceMs);
};

/** Only a place that was stored before can have been watched. */
const wasStoredAndWatched = (deciding: Deciding, place: StoredPlace): boolean =>
  deciding.knowledge.stored?.places.some(({ reservationId }) => reservationId === place.reservationId) ===
    true && isWatched(deciding, place);

/** Writes down all places of a break and the answer of this round. */
const write = (deciding: Deciding, places: readonly StoredPlace[], decided: Decided): Decision => {
  const { ask, knowledge, setting, judged } = deciding;
  const expiresAt = expiryOf(deciding, places);
  if (expiresAt <= setting.nowMs) {
    return {
      kind: 'refused',
      code: 'ADCAP_BREAK_EXPIRED',
      detail: 'breakAt: the break and its grace are over, nothing can be reserved for it',
    };
  }
  const { stored } = knowledge;
  const isSameInstant = stored?.breakAt === ask.breakAt;
  const candidates = decided.candidates.map(({ explain: _explain, ...answer }) => answer);
  const round: StoredRound = {
    source: setting.source,
    rulesVersion: setting.rules.version,
    ...decided,
    candidates,
  };
  const pod: StoredPod = {
    v: 2,
    breakAt: ask.breakAt,
    expiresAt,
    slots: stored?.slots ?? ask.slots.map(({ maxMs }) => (maxMs === undefined ? {} : { maxMs })),
    lastRound: Math.max(ask.round, stored?.lastRound ?? 0),
    places: [...places],
    rounds: { ...(isSameInstant ? stored.rounds : {}), [ask.round]: round },
  };
  const held = places.filter((place) => !place.exempt && !wasStoredAndWatched(deciding, place));
  const add = held.map((place) => reservationOf(place, { setting, at: ask.breakAt, expiresAt }));
  return { kind: 'decided', decided, judged, writing: { remove: deciding.own, add, pod } };
};

/** Places that stay where they are, for a pod that is filled around them. */
const keptOf = (deciding: Deciding, places: readonly StoredPlace[]): Pod['kept'] =>
  places.map((place) => ({
    slot: place.slot,
    ad: toAd(place, deciding.setting.keyOf),
    watched: isWatched(deciding, place),
  }));

/** Fills the slots that are empty, around what earlier rounds have placed. */
const fillAround = (
  deciding: Deciding,
  kept: readonly StoredPlace[],
): { places: StoredPlace[]; decided: Decided } => {
  const { ask, judged } = deciding;
  const fates = fateOf(judged, ask, keptOf(deciding, kept));
  const places = [...kept, ...placesOf(deciding, fates)];
  const decided = {
    candidates: answersOf(ask, judged, fates),
    pod: podOf(places, (place) => (place.round === ask.round ? place.index : null)),
    unfilled: ask.slots.length - places.length,
    ...whyEmpty(ask, { slots: ask.slots.length, places }, { judged, fates }),
  };
  return { places, decided };
};

/** Which places of a break still fit where it was moved to, what was watched among them. */
const stillFitting = (deciding: Deciding, stored: StoredPod): readonly StoredPlace[] => {
  const { ask, known, setting } = deciding;
  if (stored.breakAt === ask.breakAt) return stored.places;
  const fitting = new Set(
    keepFitting(
      stored.places.map((place) => ({
        slot: place.slot,
        watched: isWatched(deciding, place),
        evaluation: judgePlaced(place, ask, { ...setting, known }),
      })),
    ),
  );
  return stored.places.filter(({ slot }) => fitting.has(slot));
};

/** Fills what is empty around the places that stay. */
const fill = (deciding: Deciding, kept: readonly StoredPlace[]): Decision => {
  const { places, decided } = fillAround(deciding, kept);
  return write(deciding, places, decided);
};

/** A round that was answered already, but not at this instant: it gets what is left of its places and nothing new. */
const repeat = (deciding: Deciding, stored: StoredPod, places: readonly StoredPlace[]): Decision => {
  const { ask, judged } = deciding;
  const sameEntry = (place: StoredPlace): number | null =>
    place.round === ask.round &&
    judged.some(({ entry }) => entry.index === place.index && entry.candidate.creativeId === place.creativeId)
      ? place.index
      : null;
  const fates = judged.map(({ entry, evaluation }): Fate => {
    const place = places.find((one) => sameEntry(one) === entry.index);
    if (place !== undefined) return { kind: 'placed', slot: place.slot };
    return evaluation.allowed ? { kind: 'noSlot', why: 'full' } : { kind: 'capped' };
  });
  const kept = keptOf(deciding, places);
  const pod = { ...ask, slots: stored.slots };
  // Nobody is placed here, so each is asked for itself what would keep it out. What nothing keeps out is no reason.
  const alone = judged.map((one, position) =>
    fates[position]?.kind === 'noSlot' ? fateOf([one], pod, kept)[0] : fates[position],
  );
  return write(deciding, places, {
    candidates: answersOf(ask, judged, fates),
    pod: podOf(places, sameEntry),
    unfilled: stored.slots.length - places.length,
    ...whyEmpty(ask, { slots: stored.slots.length, places }, { judged, fates: alone }),
  });
};

const sameSlots = (ask: Ask, stored: StoredPod): boolean =>
  ask.slots.length === stored.slots.length &&
  ask.slots.every(({ maxMs }, index) => maxMs === stored.slots[index]?.maxMs);

const ROUND_CONFLICT: Decision = {
  kind: 'refused',
  code: 'ADCAP_BREAK_ROUND_CONFLICT',
  detail: 'slots: a later round has the same slots as the rounds before it',
};

/** Fills and reserves, keeping to what the break was answered before. The first round may have any number. */
const reserve = (deciding: Deciding): Decision => {
  const { ask, knowledge } = deciding;
  const { stored } = knowledge;
  if (stored === undefined) return fill(deciding, []);
  const isLater = ask.round > stored.lastRound;
  if (isLater && !sameSlots(ask, stored)) return ROUND_CONFLICT;
  const kept = stillFitting(deciding, stored);
  return isLater ? fill(deciding, kept) : repeat(deciding, stored, kept);
};

const confirm = (stored: StoredPod): Writing | undefined =>
  stored.isConfirmed === true ? undefined : { remove: [], add: [], pod: { ...stored, isConfirmed: true } };

/** The whole answer that this ask was given before, if it was. */
export const answeredBefore = (ask: Ask, stored: StoredPod | undefined): StoredRound | undefined =>
  ask.reserve && ask.slots.length > 0 && stored?.breakAt === ask.breakAt
    ? stored.rounds[ask.round]
    : undefined;

/**
 * One function from (views, reservations, stored pod, rules, T) to an answer, whatever they were read from: the quota
 * window, the history, or nothing at all.
 */
export const decide = (ask: Ask, knowledge: Knowledge, setting: Setting): Decision => {
  const { stored } = knowledge;
  const round = answeredBefore(ask, stored);
  if (stored !== undefined && round !== undefined) return { kind: 'stored', round, writing: confirm(stored) };
  const known = knownTo(setting.breakKey, knowledge);
  const judged = judgeEntries(ask, known, setting);
  const own = knowledge.reservations.filter(({ breakKey }) => breakKey === setting.breakKey);
  const deciding = { ask, knowledge, setting, known, judged, own };
  if (ask.slots.length === 0) {
    const candidates = answersOf(ask, judged, []);
    return { kind: 'decided', decided: { candidates, pod: [], unfilled: 0 }, judged, writing: undefined };
  }
  if (ask.reserve) return reserve(deciding);
  // A pod that holds nothing stands beside whatever the break was given.
  const { decided } = fillAround({ ...deciding, knowledge: { ...knowledge, stored: undefined } }, []);
  return { kind: 'decided', decided, judged, writing: undefined };
};
