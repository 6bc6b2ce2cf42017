import type { Context, EpochMs, SelectionAnswer, Source } from '@adcap/contracts';
import type { CompiledRules, KeyOf, Reservation, Slot, View } from '@adcap/rule-engine';
import type { StoredPod } from './stored-pod.ts';
import type { AdFacts, Entry } from './to-entries.ts';

/** What is asked: one break of one device, candidates in the ad server's order. */
export type Ask = {
  deviceId: string | undefined;
  sessionId: string | undefined;
  breakId: string;
  round: number;
  breakAt: EpochMs;
  context: Context;
  /** None: only quotas, nothing is filled. */
  slots: readonly Slot[];
  podDurationMs: number | undefined;
  reserve: boolean;
  /** The caller chose the places itself: entry i is for slot i + 1. */
  isFixed: boolean;
  /** Every rule considered; with `impressions` also when what counted was watched. */
  explain: 'nothing' | 'rules' | 'impressions';
  entries: readonly Entry[];
};

/** What is known when it is decided, whatever it was read from. */
export type Knowledge = {
  views: readonly View[];
  /** The live reservations of the device, the asking break's own among them. */
  reservations: readonly Reservation[];
  stored: StoredPod | undefined;
};

/** What a decision needs beside the ask and what is known. */
export type Setting = {
  rules: CompiledRules;
  /** What the knowledge was read from; noted in what is stored. */
  source: Source;
  breakKey: string;
  nowMs: EpochMs;
  graceMs: number;
  keyOf: KeyOf;
  /** The reservation id of a new place; the same place granted at another time has another. */
  grant: (place: { slot: number; facts: AdFacts }) => string;
  /** The store's id of a place that was named before. */
  idOf: (reservationId: string) => Reservation['id'];
};

/** The part of an answer that a decision makes; the rest says where it came from. */
export type Decided = Pick<SelectionAnswer, 'candidates' | 'pod' | 'unfilled' | 'emptySlots'>;
