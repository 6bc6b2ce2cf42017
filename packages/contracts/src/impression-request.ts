import { z } from 'zod';
import { industryIds, optionalBrandId, optionalId, requiredId, wireDeviceId } from './id-schemas.ts';
import { instantSchema } from './instant.ts';
import { LIMITS } from './limits.ts';

const wholeOrFraction = z.number().finite();

/** One impression as a client posts it. Unknown fields are ignored. */
export const impressionItemSchema = z.object({
  deviceId: wireDeviceId.describe('What the platform calls this viewer; unfilled means unidentified'),
  creativeId: requiredId.describe('The ad that was watched to its counting point'),
  campaignId: optionalId,
  brandId: optionalBrandId.describe('A name, domain or URL; domains and URLs are normalised'),
  industryIds: industryIds,
  impressionId: optionalId.describe('Unique to this playback; repeats with the same id count once'),
  reservationId: z
    .string()
    .max(LIMITS.tokenLength)
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('As given in the pod of a selection'),
  sessionId: optionalId,
  breakId: optionalId,
  slot: z
    .number()
    .int()
    .min(1)
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('Counted from 1'),
  ageMs: wholeOrFraction
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('Milliseconds since it was watched, from a monotonic clock'),
  playedAt: instantSchema
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('On the device’s clock; believed only as the difference to sentAt'),
  durationMs: z
    .number()
    .min(0)
    .nullish()
    .transform((value) => value ?? undefined),
  seller: optionalId,
  event: z
    .string()
    .max(64)
    .nullish()
    .transform((value) => value ?? 'impression'),
});

export type ImpressionItem = z.output<typeof impressionItemSchema>;
/** An impression as a client writes it. */
export type ImpressionItemInput = z.input<typeof impressionItemSchema>;

/** The envelope of POST /v1/impressions; each item is parsed by itself so that one bad item harms nobody else. */
export const impressionBatchSchema = z.object({
  sentAt: instantSchema
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('The device’s clock when it sent this'),
  impressions: z.array(z.unknown()),
});

/** Why an item was not taken. */
export const REJECT_REASONS = ['invalid', 'too_old', 'set_aside'] as const;
export type RejectReason = (typeof REJECT_REASONS)[number];

export const impressionsAnswerSchema = z.object({
  accepted: z.number().int(),
  duplicates: z.number().int(),
  ignored: z.number().int().describe('Unidentified devices and events other than impression'),
  rejected: z.array(
    z.object({ index: z.number().int(), reason: z.enum(REJECT_REASONS), message: z.string() }),
  ),
});

export type ImpressionsAnswer = z.output<typeof impressionsAnswerSchema>;
