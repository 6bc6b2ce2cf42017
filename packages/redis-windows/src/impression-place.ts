import type { ImpressionEvent } from '@adcap/contracts';
import { breakKeyOf, valueKeyOf } from '@adcap/identity';
import { placeBytes } from './reservation-member.ts';

/** No reservation has this place. */
const NOWHERE = '';

/** Where an impression was shown, for finding the reservation that it answers when it does not name it. */
export const placeOfImpression = (event: ImpressionEvent): Buffer | string => {
  if (event.breakId === undefined) return NOWHERE;
  const breakKey = breakKeyOf(event.sessionId, event.breakId);
  return placeBytes({ breakKey, slot: event.slot, creative: valueKeyOf(event.creativeId) }) ?? NOWHERE;
};
