import { z } from 'zod';
import { DIMENSIONS } from './dimensions.ts';
import { LIMITS } from './limits.ts';

const instant = z.number().int().describe('epoch ms');

export const CANDIDATE_OUTCOMES = [
  'placed',
  'allowed',
  'capped',
  'podCapped',
  'noSlot',
  'exempt',
  'invalid',
] as const;
export const SOURCES = ['quotas', 'history', 'open', 'unidentified'] as const;
export const DEGRADED_REASONS = [
  'deadline',
  'store_error',
  'circuit_open',
  'overload',
  'no_rules',
  'contended',
  'commit_late',
  'history_incomplete',
  'behind',
  'switched_open',
] as const;
export type DegradedReason = (typeof DEGRADED_REASONS)[number];
export type Source = (typeof SOURCES)[number];

export const blockedBySchema = z.object({
  ruleId: z.string(),
  dimension: z.enum(DIMENSIONS),
  value: z.string(),
  max: z.number().int().optional().describe('Absent for a BLOCK'),
  windowMs: z.number().int().nullable().optional().describe('null for a pod window'),
  used: z.number().int().optional(),
  reserved: z.number().int().optional(),
  at: instant.optional().describe('The instant that decides, where it is not the break’s'),
});

export const candidateAnswerSchema = z.object({
  index: z.number().int(),
  creativeId: z.string().nullable(),
  outcome: z.enum(CANDIDATE_OUTCOMES),
  allowed: z.boolean().describe('Before this pod’s own grants'),
  remaining: z.number().int().nullable().describe('Before this pod’s own grants; null where nothing caps'),
  blockedBy: blockedBySchema.optional(),
  nextAllowedAt: instant.optional(),
  error: z.object({ field: z.string(), message: z.string() }).optional(),
  explain: z.array(z.record(z.string(), z.unknown())).optional(),
});

export const podPlaceSchema = z.object({
  slot: z.number().int().describe('Counted from 1'),
  index: z
    .number()
    .int()
    .nullable()
    .describe('Place among the candidates; null for a place of an earlier round'),
  creativeId: z.string(),
  reservationId: z.string(),
});

/** Why a slot stayed empty. A closed set, in the order in which ties are told: it labels metrics. */
export const EMPTY_SLOT_REASONS = [
  'capped',
  'podCapped',
  'tooLong',
  'invalid',
  'noCandidates',
  'contended',
] as const;
export type EmptySlotReason = (typeof EMPTY_SLOT_REASONS)[number];

export const emptySlotSchema = z.object({
  slot: z.number().int().describe('Counted from 1'),
  reasons: z
    .array(
      z.object({
        reason: z
          .enum(EMPTY_SLOT_REASONS)
          .describe(
            'capped, podCapped: by ruleId; tooLong: for the slot or for what is left of the pod; noCandidates: fewer candidates were left over than slots; contended: another process decided for this device meanwhile',
          ),
        ruleId: z.string().optional().describe('With capped and podCapped, one entry a rule'),
        candidates: z.number().int().describe('How many candidates this kept out; 0 with noCandidates'),
      }),
    )
    .describe(`The most candidates first, at most ${LIMITS.emptySlotReasons} of them`),
});
export type EmptySlot = z.output<typeof emptySlotSchema>;

/** What every answer says of itself: about which break, from what, and whether it holds. */
const answerHead = {
  breakId: z.string(),
  breakAt: instant,
  serverTime: instant,
  source: z.enum(SOURCES),
  degraded: z.boolean(),
  degradedReason: z.enum(DEGRADED_REASONS).optional(),
  reserved: z.boolean(),
  rulesVersion: z.number().int().nullable(),
  asOf: instant
    .nullable()
    .describe(
      'The receive time, in epoch ms, up to which impressions of the device’s partition had been applied; null where nothing was counted or it is not known',
    ),
};

export const selectionAnswerSchema = z.object({
  ...answerHead,
  candidates: z.array(candidateAnswerSchema),
  pod: z.array(podPlaceSchema),
  unfilled: z.number().int(),
  emptySlots: z
    .array(emptySlotSchema)
    .optional()
    .describe('Why each unfilled slot stayed empty, by slot; absent where none did'),
});

export type BlockedBy = z.output<typeof blockedBySchema>;
export type CandidateAnswer = z.output<typeof candidateAnswerSchema>;
export type PodPlace = z.output<typeof podPlaceSchema>;
export type SelectionAnswer = z.output<typeof selectionAnswerSchema>;

export const reservationsAnswerSchema = z.object({
  ...answerHead,
  granted: z.array(podPlaceSchema),
  refused: z.array(candidateAnswerSchema),
});

export type ReservationsAnswer = z.output<typeof reservationsAnswerSchema>;
