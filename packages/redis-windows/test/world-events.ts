import { epochMs, fingerprint, type ImpressionEvent } from '@adcap/contracts';
import { impressionIdentity, valueKeyOf } from '@adcap/identity';
import type { Reservation } from '@adcap/rule-engine';
import { type OracleView, type OracleWorld, toEngineView } from '@adcap/testkit/oracle';

/** The impressions of a random world as events of one device, each with an id of its own. */
export const eventsOf = (world: OracleWorld, deviceId = 'd1'): ImpressionEvent[] =>
  world.watched.map((view: OracleView, index) => ({
    type: 'NEW_IMPRESSION',
    v: 1,
    ...impressionIdentity({
      deviceId,
      creativeId: view.creative,
      impressionId: `impression-${index}`,
      at: epochMs(view.at),
    }),
    deviceId,
    creativeId: view.creative,
    campaignId: view.campaign,
    brandId: view.brand,
    industryIds: [...view.industries],
    at: view.at,
    receivedAt: view.at,
  }));

const bytes = (...last: number[]): string => Buffer.from([0, 0, 0, 0, 0, 0, ...last]).toString('base64url');

/** The reservations of a random world, each of another break. */
export const reservationsOf = (world: OracleWorld, expiresAt: number): Reservation[] =>
  world.reserved.map((view, index) => ({
    ...toEngineView(view, valueKeyOf),
    id: fingerprint(bytes(0, index)),
    breakKey: bytes(1, index),
    slot: 1,
    expiresAt: epochMs(expiresAt),
    grantedAt: epochMs(0),
  }));
