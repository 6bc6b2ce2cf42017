import { epochMs, fingerprint } from '@adcap/contracts';
import { breakKeyOf, deviceTag, valueKeyOf } from '@adcap/identity';
import type { Reservation, View } from '@adcap/rule-engine';
import { test as base, waitFor } from '@adcap/testkit';
import {
  connectRedis,
  createCleaner,
  createDecisionStore,
  createHistoryWriter,
  createKeys,
  createWindowWriter,
  type ImpressionWriter,
  type Keys,
  type RedisConnection,
  viewOfHistoryRecord,
} from '../src/index.ts';

export const HOUR_MS = 3_600_000;
export const retention = { retentionMs: 24 * HOUR_MS, graceMs: HOUR_MS };
export const KEEP_MS = retention.retentionMs + retention.graceMs;

export const quiet = { info: () => undefined, warn: () => undefined };

/** All stores over one connection, under a prefix of their own. */
export const openStores = (connection: RedisConnection, keys: Keys) => {
  const settings = { keys, ...retention };
  return {
    connection,
    keys,
    window: createWindowWriter(connection, settings),
    history: createHistoryWriter(connection, settings),
    decisions: createDecisionStore(connection, settings),
    cleaner: createCleaner(connection, settings),
    deviceKeys: (deviceId: string) => keys.device(deviceTag(deviceId)),
  };
};

export type Stores = ReturnType<typeof openStores>;

export const test = base.extend<{ stores: Stores }>({
  stores: async ({ redisUrl, keyPrefix }, use) => {
    const connection = connectRedis({ url: redisUrl, name: 'test', logger: quiet, role: 'writer' });
    await connection.whenReady();
    await use(openStores(connection, createKeys(keyPrefix)));
    await connection.close();
  },
});

/** What the history holds of a device, by itself. */
export const historyViews = async (
  { decisions }: Pick<Stores, 'decisions'>,
  { deviceId, sinceMs }: { deviceId: string; sinceMs: number },
): Promise<View[]> =>
  (await decisions.inspect(deviceId)).history.filter(({ at }) => at > sinceMs).map(viewOfHistoryRecord);

type Events = Parameters<ImpressionWriter['applyBatch']>[0]['events'];

/** Applies as the only consumer of its group and says what became of each event. */
export const apply = async (
  writer: ImpressionWriter,
  connection: RedisConnection,
  events: Events,
): Promise<string[]> => {
  const applied = { group: 'test', partition: 0, nextOffset: 1n, epoch: connection.epoch() };
  return (await writer.applyBatch({ events, applied })).map((result) => result.kind);
};

let ids = 0;

export const aReservation = (
  overrides: Omit<Partial<Reservation>, 'at' | 'expiresAt' | 'grantedAt'> & {
    at: number;
    expiresAt: number;
    grantedAt?: number;
  },
): Reservation => {
  ids += 1;
  const id = Buffer.alloc(8);
  id.writeUInt32BE(ids, 4);
  return {
    id: fingerprint(id.toString('base64url')),
    breakKey: breakKeyOf('s-1', 'b-1'),
    slot: 1,
    creative: valueKeyOf('c-1'),
    campaign: valueKeyOf('k-1'),
    brand: valueKeyOf('acme.example'),
    industries: [valueKeyOf('auto')],
    ...overrides,
    at: epochMs(overrides.at),
    expiresAt: epochMs(overrides.expiresAt),
    grantedAt: epochMs(overrides.grantedAt ?? 0),
  };
};

export { waitFor };
