import { type Fingerprint, fingerprint, type ImpressionIdentity } from '@adcap/contracts';
import { sha256OfParts } from './sha256.ts';

const FINGERPRINT_BYTES = 8;

/** What can tell one impression from another. */
export type ImpressionTraits = {
  deviceId: string;
  creativeId: string;
  /** Only when its token verified: an id that anyone can make up must not merge two views. */
  reservationId?: string | undefined;
  impressionId?: string | undefined;
  sessionId?: string | undefined;
  breakId?: string | undefined;
  slot?: number | undefined;
  /** When it was watched, epoch ms. */
  at: number;
};

type Parts = readonly [kind: string, ...rest: (string | number | null)[]];

const fingerprintOf = (parts: Parts): Fingerprint =>
  fingerprint(sha256OfParts(parts).toString('base64url', 0, FINGERPRINT_BYTES));

/** The fingerprint that the impression which answers a reservation will have: the reservation's id in the store. */
export const reservationFingerprint = (deviceId: string, reservationId: string): Fingerprint =>
  fingerprintOf(['reservation', deviceId, reservationId]);

/** The fingerprint of one moment of an ad on a device: what is left when nothing else tells two views apart. */
const momentParts = (traits: ImpressionTraits): Parts => [
  'moment',
  traits.deviceId,
  traits.creativeId,
  traits.at,
];

/**
 * Law 7: the identity of one impression, from the strongest thing known about it. Each kind is hashed under its own
 * name, so that no id of one kind can imitate another.
 */
export const impressionIdentity = (
  traits: ImpressionTraits,
): { fingerprint: Fingerprint; identity: ImpressionIdentity } => {
  const { deviceId, creativeId, reservationId, impressionId, sessionId, breakId, slot } = traits;
  if (reservationId !== undefined)
    return { fingerprint: reservationFingerprint(deviceId, reservationId), identity: 'reservation' };
  if (impressionId !== undefined)
    return {
      fingerprint: fingerprintOf(['impression', deviceId, impressionId, creativeId, slot ?? null]),
      identity: 'impression',
    };
  if (breakId !== undefined)
    return {
      fingerprint: fingerprintOf(['break', deviceId, sessionId ?? null, breakId, creativeId, slot ?? null]),
      identity: 'break',
    };
  return { fingerprint: fingerprintOf(momentParts(traits)), identity: 'moment' };
};
