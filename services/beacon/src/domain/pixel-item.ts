import { isUnfilled } from '@adcap/contracts';
import type { VerifyReservation } from './ports.ts';

export type PixelQuery = Readonly<Record<string, string | undefined>>;

/** A player that does not know a number leaves its macro, or writes -1: that says nothing, so nothing is wrong. */
const number = (text: string | undefined): number | string | undefined => {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  return isUnfilled(text) ? undefined : text;
};

const filled = (text: string | undefined): string | undefined =>
  text === undefined || isUnfilled(text) ? undefined : text;

/**
 * A pixel's query as the item that a client would have posted, and when it was sent. A reservation id alone is a whole
 * impression: it says whose view of what it is.
 */
export const pixelItem = (
  query: PixelQuery,
  verify: VerifyReservation,
): { item: object; sentAt: unknown } => {
  const reservationId = filled(query['reservationId']) ?? filled(query['t']);
  const creativeId = filled(query['creativeId']);
  const promised =
    creativeId === undefined && reservationId !== undefined ? verify(reservationId) : undefined;
  const item = {
    deviceId: query['deviceId'],
    creativeId: creativeId ?? promised?.creativeId ?? query['creativeId'],
    campaignId: query['campaignId'],
    brandId: query['brandId'],
    industryIds: query['industryIds']?.split(','),
    impressionId: query['impressionId'],
    reservationId,
    sessionId: query['sessionId'],
    breakId: query['breakId'],
    slot: number(query['slot']),
    ageMs: number(query['ageMs']),
    playedAt: number(query['playedAt']),
    durationMs: number(query['durationMs']),
    seller: query['seller'],
    event: query['event'],
  };
  return { item, sentAt: number(query['sentAt']) };
};
