import { z } from 'zod';
import { industryIds, optionalBrandId, optionalId, requiredId, wireDeviceId } from './id-schemas.ts';
import { instantSchema } from './instant.ts';
import { LIMITS } from './limits.ts';

const missing = <T>(value: T | null | undefined): T | undefined => value ?? undefined;
const durationMs = z.number().positive().max(86_400_000);

/** One ad of the ad server's answer. */
export const candidateSchema = z.object({
  creativeId: requiredId,
  campaignId: optionalId,
  brandId: optionalBrandId,
  industryIds: industryIds,
  durationMs: durationMs.nullish().transform(missing),
  seller: optionalId,
  exempt: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false)
    .describe('House ad or slate: never capped'),
  value: z
    .number()
    .finite()
    .nullish()
    .transform(missing)
    .describe('What the ad is worth; noted, not used to choose'),
});

export type Candidate = z.output<typeof candidateSchema>;
/** A candidate as a caller writes it. */
export type CandidateInput = z.input<typeof candidateSchema>;

/** A candidate that is parsed by itself later; documents say what it may be all the same. */
const unparsedCandidate = z.unknown().meta({ ...z.toJSONSchema(candidateSchema, { io: 'input' }) });

export const contextSchema = z
  .record(z.string().max(64), z.union([z.string().max(256), z.array(z.string().max(256)).max(32)]))
  .refine((context) => Object.keys(context).length <= 32, 'at most 32 keys');

export type Context = z.output<typeof contextSchema>;

const slotSchema = z.object({ maxMs: durationMs.nullish().transform(missing) });

/** A number of equal slots, or one entry for each slot. */
const slotsSchema = z
  .union([
    z.number().int().min(0).max(LIMITS.slots, `at most ${LIMITS.slots} slots`),
    z.array(slotSchema).max(LIMITS.slots, `at most ${LIMITS.slots} slots`),
  ])
  .nullish()
  .transform((value) =>
    typeof value === 'number' ? Array.from({ length: value }, () => ({ maxMs: undefined })) : (value ?? []),
  );

const envelope = {
  deviceId: wireDeviceId,
  sessionId: optionalId,
  breakId: requiredId.describe('One playback of an ad break, unique within the session'),
  round: z
    .number()
    .int()
    .min(1)
    .max(100)
    .nullish()
    .transform((value) => value ?? 1),
  breakAt: instantSchema.describe('The absolute instant at which the break plays'),
  deadlineMs: z
    .number()
    .positive()
    .nullish()
    .transform(missing)
    .describe('May only shorten the configured deadline'),
  context: contextSchema.nullish().transform((value) => value ?? {}),
};

/** POST /v1/selections. Candidates are parsed one by one so that a bad one is `invalid` and harms nobody else. */
export const selectionRequestSchema = z.object({
  ...envelope,
  slots: slotsSchema.describe('0 or missing: only quotas, nothing reserved'),
  podDurationMs: durationMs.nullish().transform(missing),
  reserve: z
    .boolean()
    .nullish()
    .transform((value) => value ?? true),
  candidates: z.array(unparsedCandidate).max(LIMITS.candidates, `at most ${LIMITS.candidates} candidates`),
  explain: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
});

export type SelectionRequest = z.output<typeof selectionRequestSchema>;
/** A selection as a caller writes it. */
export type SelectionRequestInput = Omit<z.input<typeof selectionRequestSchema>, 'candidates'> & {
  candidates: readonly CandidateInput[];
};

/** POST /v1/reservations: what the caller chose itself, in the order of its slots. */
export const reservationRequestSchema = z.object({
  ...envelope,
  items: z.array(unparsedCandidate).min(1).max(LIMITS.slots, `at most ${LIMITS.slots} items`),
});

export type ReservationRequest = z.output<typeof reservationRequestSchema>;

export const releaseRequestSchema = z.object({
  deviceId: wireDeviceId,
  sessionId: optionalId,
  breakId: requiredId,
});

export const MAX_BREAKS_PER_BATCH = 12;

/** POST /v1/selections/batch: all breaks of one device, decided in time order. */
export const selectionBatchRequestSchema = z.object({
  deviceId: wireDeviceId,
  sessionId: optionalId,
  breaks: z
    .array(selectionRequestSchema.omit({ deviceId: true, sessionId: true }))
    .min(1)
    .max(MAX_BREAKS_PER_BATCH),
});
