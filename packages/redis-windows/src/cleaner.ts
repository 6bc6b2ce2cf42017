import { type EpochMs, LIMITS } from '@adcap/contracts';
import { deviceTag } from '@adcap/identity';
import type { DeviceKeys, Keys } from './keys.ts';
import { clientOf, inOneWrite, type RedisConnection } from './redis-connection.ts';
import { keepMs, metaTtlMs, type Retention } from './retention.ts';
import { trimDevice } from './scripts/trim-device.ts';

/** How many impressions, records and reservations were dropped. */
export type Freed = { window: number; history: number; reservations: number };

export type StrayStep = {
  /** Where the next step goes on; `'0'` when the round is complete. */
  cursor: string;
  /** Keys that were looked at. */
  seen: number;
  /** Keys that had no TTL and got one. */
  mended: number;
};

/**
 * The only one that drops impressions. Failure policy: throws what the client throws; each device and each step is
 * complete in itself and may be repeated.
 */
export type Cleaner = {
  trim(deviceIds: readonly string[], nowMs: EpochMs): Promise<Freed>;
  /** One SCAN step over all devices; gives a TTL to keys that have none (law: none lives for ever). */
  scanForStray(step: { cursor: string; count: number }): Promise<StrayStep>;
};

/** Bounds one script call to some milliseconds; a device with more to drop gets more calls. */
const DROPS_PER_CALL = 1_000;
const NO_TTL = -1;

export const createCleaner = (connection: RedisConnection, settings: { keys: Keys } & Retention): Cleaner => {
  const client = clientOf(connection);
  const keep = keepMs(settings);
  const metaTtl = metaTtlMs(settings);

  const trimOne = async (keys: DeviceKeys, nowMs: EpochMs): Promise<Freed> => {
    const freed = { window: 0, history: 0, reservations: 0 };
    let isMore = true;
    while (isMore) {
      // Each step needs the answer of the one before.
      // oxlint-disable-next-line no-await-in-loop
      const step = await trimDevice.run(connection, {
        keys,
        args: {
          cutoffMs: nowMs - keep,
          keepMs: keep,
          metaTtlMs: metaTtl,
          keepNewest: LIMITS.impressionsPerDevice,
          stepLimit: DROPS_PER_CALL,
        },
      });
      freed.window += step.window;
      freed.history += step.history;
      freed.reservations += step.reservations;
      isMore = step.isMore;
    }
    return freed;
  };

  return {
    trim: async (deviceIds, nowMs) => {
      const devices = [...new Set(deviceIds)].map((deviceId) => settings.keys.device(deviceTag(deviceId)));
      const all = await inOneWrite(connection, () =>
        Promise.all(devices.map((keys) => trimOne(keys, nowMs))),
      );
      return {
        window: all.reduce((sum, freed) => sum + freed.window, 0),
        history: all.reduce((sum, freed) => sum + freed.history, 0),
        reservations: all.reduce((sum, freed) => sum + freed.reservations, 0),
      };
    },

    scanForStray: async ({ cursor, count }) => {
      const pattern = settings.keys.everyDevicePattern;
      const [next, found] = await client.scan(cursor, 'MATCH', pattern, 'COUNT', count);
      const ttls = await inOneWrite(connection, () => Promise.all(found.map((key) => client.pttl(key))));
      const strays = found.filter((_, index) => ttls[index] === NO_TTL);
      // The longest TTL that any of these keys has: nothing is dropped before its reader stops needing it.
      await inOneWrite(connection, () => Promise.all(strays.map((key) => client.pexpire(key, metaTtl))));
      return { cursor: next, seen: found.length, mended: strays.length };
    },
  };
};
