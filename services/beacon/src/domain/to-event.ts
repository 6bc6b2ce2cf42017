import { type EpochMs, type ImpressionEvent, type ImpressionItem, isUnfilled } from '@adcap/contracts';
import { impressionTime } from './impression-time.ts';
import type { Judgement } from './judgement.ts';
import type { IdentifyImpression, ReservedAd, VerifyReservation } from './ports.ts';

/** What surrounds an item: the request that it came in, and the installation. */
export type ItemContext = {
  receivedAt: EpochMs;
  sentAt?: EpochMs | undefined;
  isProducer: boolean;
  retentionMs: number;
  verifyReservation: VerifyReservation;
  identifyImpression: IdentifyImpression;
};

/** What may be noticed about a reservation id that is of no use; the impression counts without it. */
export const RESERVATION_MARKS = [
  'reservation_unverified',
  'reservation_other_device',
  'reservation_other_creative',
] as const;
type ReservationMark = (typeof RESERVATION_MARKS)[number];

type Reservation =
  | { kind: 'none' }
  | { kind: 'held'; id: string; ad: ReservedAd }
  | { kind: 'useless'; mark: ReservationMark };

/** The reservation that this view answers: of the same device and the same ad, or none. */
const answeredReservation = (item: ImpressionItem, verify: VerifyReservation): Reservation => {
  const id = item.reservationId;
  if (id === undefined || isUnfilled(id)) return { kind: 'none' };
  const ad = verify(id);
  if (ad === undefined) return { kind: 'useless', mark: 'reservation_unverified' };
  if (item.deviceId !== undefined && item.deviceId !== ad.deviceId)
    return { kind: 'useless', mark: 'reservation_other_device' };
  if (item.creativeId !== ad.creativeId) return { kind: 'useless', mark: 'reservation_other_creative' };
  return { kind: 'held', id, ad };
};

/** What the view says itself comes first (law 9); the reservation fills in the rest. */
const filledIn = (item: ImpressionItem, ad: ReservedAd | undefined) => ({
  creativeId: item.creativeId,
  campaignId: item.campaignId ?? ad?.campaignId,
  brandId: item.brandId ?? ad?.brandId,
  industryIds: item.industryIds.length > 0 ? item.industryIds : [...(ad?.industryIds ?? [])],
  sessionId: item.sessionId ?? ad?.sessionId,
  breakId: item.breakId ?? ad?.breakId,
  slot: item.slot ?? ad?.slot,
  durationMs: item.durationMs ?? ad?.durationMs,
  seller: item.seller ?? ad?.seller,
});

/** A well-formed item as the event that is published, or why it is not. */
export const toEvent = (item: ImpressionItem, context: ItemContext): Judgement => {
  if (item.event !== 'impression') return { kind: 'ignored', reason: 'other_event' };
  const reservation = answeredReservation(item, context.verifyReservation);
  const held = reservation.kind === 'held' ? reservation : undefined;
  const deviceId = item.deviceId ?? held?.ad.deviceId;
  if (deviceId === undefined) return { kind: 'ignored', reason: 'unidentified' };

  const { ageMs, playedAt, impressionId } = item;
  const { receivedAt, sentAt, isProducer, retentionMs } = context;
  const at = impressionTime({ receivedAt, sentAt, ageMs, playedAt, isProducer }, retentionMs);
  if (at === undefined) {
    const field = ageMs === undefined ? 'playedAt' : 'ageMs';
    const fields = [{ field, message: `is longer ago than ${retentionMs} ms` }];
    return { kind: 'rejected', reason: 'too_old', fields };
  }

  const ad = filledIn(item, held?.ad);
  const traits = { ...ad, deviceId, reservationId: held?.id, impressionId, at };
  const event: ImpressionEvent = {
    type: 'NEW_IMPRESSION',
    v: 1,
    ...context.identifyImpression(traits),
    deviceId,
    ...ad,
    at,
    receivedAt,
    impressionId,
    marks: reservation.kind === 'useless' ? [reservation.mark] : undefined,
  };
  return { kind: 'event', event };
};
