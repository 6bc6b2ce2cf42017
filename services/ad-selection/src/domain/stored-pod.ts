import { candidateAnswerSchema, emptySlotSchema, podPlaceSchema, SOURCES } from '@adcap/contracts';
import { z } from 'zod';

const placeSchema = z.object({
  slot: z.number().int(),
  round: z.number().int(),
  index: z.number().int(),
  reservationId: z.string(),
  creativeId: z.string(),
  campaignId: z.string().optional(),
  brandId: z.string().optional(),
  industryIds: z.array(z.string()),
  durationMs: z.number().optional(),
  seller: z.string().optional(),
  exempt: z.boolean(),
  grantedAt: z.number(),
});

const roundSchema = z.object({
  source: z.enum(SOURCES),
  rulesVersion: z.number().nullable(),
  candidates: z.array(candidateAnswerSchema),
  pod: z.array(podPlaceSchema),
  unfilled: z.number().int(),
  /** Not in what an earlier release has stored. */
  emptySlots: z.array(emptySlotSchema).optional(),
});

/** What is kept of a break until it expires: its places, and the whole answer of each round. */
const storedPodSchema = z.object({
  v: z.literal(2),
  breakAt: z.number(),
  expiresAt: z.number(),
  slots: z.array(z.object({ maxMs: z.number().optional() })),
  lastRound: z.number().int(),
  places: z.array(placeSchema),
  rounds: z.record(z.string(), roundSchema),
  /** Somebody was answered from it: it can no longer be taken back. */
  isConfirmed: z.boolean().optional(),
});

export type StoredPod = z.output<typeof storedPodSchema>;
export type StoredPlace = z.output<typeof placeSchema>;
export type StoredRound = z.output<typeof roundSchema>;

/** Reads a stored pod; one of another release's format is none, and the break is decided anew. */
export const parseStoredPod = (json: string | undefined): StoredPod | undefined => {
  if (json === undefined) return undefined;
  try {
    return storedPodSchema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
};
