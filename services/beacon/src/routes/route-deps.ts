import type { ItemContext } from '../domain/to-event.ts';
import type { TakeImpressions } from '../take-impressions.ts';

/** What both ways of telling an impression share. */
export type RouteDeps = {
  take: TakeImpressions;
  context: Pick<ItemContext, 'retentionMs' | 'verifyReservation' | 'identifyImpression'>;
  /** Whether the request comes from a producer whose clock is believed; throws for a token that nobody has. */
  isProducer(authorization: string | undefined): boolean;
};
