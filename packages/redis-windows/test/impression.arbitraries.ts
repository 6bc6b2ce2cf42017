import {
  epochMs,
  fingerprint,
  type ImpressionEvent,
  NO_VALUE,
  type ValueKey,
  valueKey,
} from '@adcap/contracts';
import type { Reservation } from '@adcap/rule-engine';
import * as fc from 'fast-check';

const BYTES = 8;

const anyId = fc.string({ minLength: 1, maxLength: 24, unit: 'grapheme' });
const anyTime = fc.integer({ min: 1e11, max: 1e14 }).map(epochMs);
const anyId8 = fc
  .uint8Array({ minLength: BYTES, maxLength: BYTES })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));
const anyFingerprint = anyId8.map(fingerprint);
const anyKey: fc.Arbitrary<ValueKey> = fc.maxSafeNat().map((key) => valueKey((key % (2 ** 48 - 1)) + 1));
const anyOptionalKey = fc.oneof(fc.constant(NO_VALUE), anyKey);
const anyKeys = fc.uniqueArray(anyKey, { maxLength: 16 });

const views = {
  at: anyTime,
  creative: anyKey,
  campaign: anyOptionalKey,
  brand: anyOptionalKey,
  industries: anyKeys,
};

export const anyWindowMember = fc.record({ ...views, fingerprint: anyFingerprint });

export const anyReservation: fc.Arbitrary<Reservation> = fc.record({
  ...views,
  id: anyFingerprint,
  breakKey: anyId8,
  slot: fc.integer({ min: 1, max: 255 }),
  expiresAt: anyTime,
  grantedAt: anyTime,
});

const optionalFields = [
  'campaignId',
  'brandId',
  'seller',
  'sessionId',
  'breakId',
  'slot',
  'durationMs',
] as const;

/** An event with any of its optional fields missing. */
export const anyEvent: fc.Arbitrary<ImpressionEvent> = fc
  .record({
    type: fc.constant('NEW_IMPRESSION' as const),
    v: fc.constant(1 as const),
    fingerprint: anyFingerprint,
    deviceId: anyId,
    creativeId: anyId,
    campaignId: anyId,
    brandId: anyId,
    industryIds: fc.array(anyId, { maxLength: 4 }),
    at: anyTime,
    receivedAt: anyTime,
    identity: fc.constant('impression' as const),
    seller: anyId,
    sessionId: anyId,
    breakId: anyId,
    slot: fc.integer({ min: 1, max: 300 }),
    durationMs: fc.integer({ min: 0, max: 90_000 }),
    missing: fc.subarray([...optionalFields]),
  })
  .map(({ missing, ...event }) => {
    const kept: Record<string, unknown> = { ...event };
    for (const field of missing) delete kept[field];
    return kept as ImpressionEvent;
  });
