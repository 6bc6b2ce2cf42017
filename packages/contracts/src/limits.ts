/** Bounds of what a caller may send; each is part of the published contract. */
export const LIMITS = {
  idLength: 256,
  tokenLength: 4_096,
  impressionsPerRequest: 1_000,
  candidates: 500,
  slots: 20,
  /** Told of one empty slot: with a rule for each candidate an answer would be mostly that. */
  emptySlotReasons: 10,
  industries: 16,
  liveReservations: 200,
  /** A device keeps its newest impressions up to this many, by impression time. */
  impressionsPerDevice: 2_048,
  /** How far ahead a break may be asked for. */
  breakAheadMs: 36 * 3_600_000,
  /** Bytes of a request body after decoding. */
  bodyBytes: 2 * 1_048_576,
} as const;
