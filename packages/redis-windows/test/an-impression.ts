import type { ImpressionEvent } from '@adcap/contracts';
import { impressionIdentity } from '@adcap/identity';

let impressions = 0;

/**
 * An impression with an id of its own; with `impressionId: undefined` (and no break) only its moment tells it apart. Its
 * fingerprint follows from what it has.
 */
export const anImpression = (
  overrides: Partial<ImpressionEvent> & { at: number; reservationId?: string },
): ImpressionEvent => {
  impressions += 1;
  const { reservationId, ...fields } = overrides;
  const event = {
    type: 'NEW_IMPRESSION' as const,
    v: 1 as const,
    deviceId: 'tv-1',
    creativeId: 'c-1',
    campaignId: 'k-1',
    brandId: 'acme.example',
    industryIds: ['auto'],
    receivedAt: overrides.at,
    ...('impressionId' in overrides ? {} : { impressionId: `i-${impressions}` }),
    ...fields,
  };
  return { ...event, ...impressionIdentity({ ...event, reservationId }), ...fields };
};
