import { type EpochMs, epochMs, type ImpressionEvent, impressionEventSchema } from '@adcap/contracts';
import { createReservationTokens, impressionIdentity, type ReservationClaims } from '@adcap/identity';
import type { ItemContext } from '../src/domain/to-event.ts';

export const RECEIVED_AT: EpochMs = epochMs(1_760_000_000_000);
const RETENTION_MS = 86_400_000;

export const reservationTokens = createReservationTokens([{ id: 'k1', secret: 'a secret for the tests' }]);

/** The claims of a reservation, with what a test says differently. */
export const someClaims = (overrides: Partial<ReservationClaims> = {}): ReservationClaims => ({
  deviceId: 'd1',
  creativeId: 'c1',
  campaignId: 'k1',
  brandId: 'b1',
  industryIds: ['i1', 'i2'],
  sessionId: 's1',
  breakId: 'br1',
  slot: 2,
  durationMs: 30_000,
  seller: 'house',
  grantedAt: RECEIVED_AT - 60_000,
  ...overrides,
});

/** What surrounds an item of a request that came at RECEIVED_AT. */
export const someContext = (overrides: Partial<ItemContext> = {}): ItemContext => ({
  receivedAt: RECEIVED_AT,
  isProducer: false,
  retentionMs: RETENTION_MS,
  verifyReservation: (id) => reservationTokens.verify(id),
  identifyImpression: impressionIdentity,
  ...overrides,
});

/** An event as the beacon publishes it, identified like a real one. */
export const someEvent = (
  overrides: Partial<Pick<ImpressionEvent, 'deviceId' | 'creativeId' | 'impressionId' | 'at'>> = {},
): ImpressionEvent => {
  const traits = { deviceId: 'd1', creativeId: 'c1', at: RECEIVED_AT, ...overrides };
  return impressionEventSchema.parse({
    type: 'NEW_IMPRESSION',
    v: 1,
    receivedAt: RECEIVED_AT,
    ...traits,
    ...impressionIdentity(traits),
  });
};
