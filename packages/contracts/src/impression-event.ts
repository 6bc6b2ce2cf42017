import { z } from 'zod';

const id = z.string().min(1).max(256);
const instant = z.number().int().min(1e11).max(1e14);

/** Law 7, highest first: a verified reservation, the caller's own id, the place in a break, or device + creative within 30 s. */
export const IMPRESSION_IDENTITIES = ['reservation', 'impression', 'break', 'moment'] as const;
export type ImpressionIdentity = (typeof IMPRESSION_IDENTITIES)[number];

/** Two impressions of one device and creative with nothing else to tell them apart are one within this distance. */
export const SAME_MOMENT_MS = 30_000;

/**
 * NEW_IMPRESSION: an ad that was watched, on the impressions topic under the device's key. Everything in it is final:
 * ids are filtered, the brand is normalised, the time is corrected and the fingerprint is computed, so that no consumer
 * decides any of it again.
 */
export const impressionEventSchema = z.object({
  type: z.literal('NEW_IMPRESSION'),
  v: z.literal(1),
  fingerprint: z
    .string()
    .regex(/^[A-Za-z0-9_-]{11}$/)
    .describe('8 bytes, base64url: what makes every write idempotent'),
  deviceId: id,
  creativeId: id,
  campaignId: id.optional(),
  brandId: id.optional(),
  industryIds: z.array(id).max(16).default([]),
  at: instant.describe('When it was watched, epoch ms on the server’s clock'),
  receivedAt: instant.describe('When the beacon received it, epoch ms'),
  sessionId: id.optional(),
  breakId: id.optional(),
  slot: z.number().int().min(1).optional(),
  identity: z
    .enum(IMPRESSION_IDENTITIES)
    .describe('What the fingerprint was made of; `moment` also makes device + creative within 30 s one'),
  impressionId: id.optional(),
  durationMs: z.number().min(0).optional(),
  seller: id.optional(),
  marks: z
    .array(z.string().max(64))
    .max(16)
    .optional()
    .describe('What was noticed about it, without consequence'),
});

export type ImpressionEvent = z.output<typeof impressionEventSchema>;
