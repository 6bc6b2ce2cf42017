import type { EpochMs, Fingerprint, ImpressionIdentity } from '@adcap/contracts';

/** What a reservation promised, as far as the view that answers it needs it. */
export type ReservedAd = {
  deviceId: string;
  creativeId: string;
  campaignId?: string | undefined;
  brandId?: string | undefined;
  industryIds: readonly string[];
  sessionId?: string | undefined;
  breakId: string;
  slot: number;
  durationMs?: number | undefined;
  seller?: string | undefined;
};

/** Reads a reservation id. Fails closed: whatever was not signed by this installation is `undefined`. Never throws. */
export type VerifyReservation = (reservationId: string) => ReservedAd | undefined;

/** Law 7: the identity of one impression. Pure. */
export type IdentifyImpression = (traits: {
  deviceId: string;
  creativeId: string;
  reservationId?: string | undefined;
  impressionId?: string | undefined;
  sessionId?: string | undefined;
  breakId?: string | undefined;
  slot?: number | undefined;
  at: EpochMs;
}) => { fingerprint: Fingerprint; identity: ImpressionIdentity };
