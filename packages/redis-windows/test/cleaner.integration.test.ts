import { epochMs, LIMITS } from '@adcap/contracts';
import { breakKeyOf } from '@adcap/identity';
import type { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { anImpression } from './an-impression.ts';
import { apply, aReservation, HOUR_MS, KEEP_MS, type Stores, test, waitFor } from './stores.ts';

const now = Date.now();
const MINUTE_MS = 60_000;
const deviceId = 'tv-1';
const breakKey = breakKeyOf('s-1', 'b-1');

const watch = async (stores: Stores, events: Parameters<typeof apply>[2]) => {
  await apply(stores.window, stores.connection, events);
  return apply(stores.history, stores.connection, events);
};

const cards = async (stores: Stores, redis: Redis) => {
  const { window, history } = stores.deviceKeys(deviceId);
  return [await redis.zcard(window), await redis.zcard(history)];
};

describe('trim', () => {
  test('drops what is older than the retention and its grace, and keeps what is as old', async ({
    stores,
    redis,
  }) => {
    // Half past, so that none of them is in another hour.
    const half = Math.floor(now / HOUR_MS) * HOUR_MS - 30 * MINUTE_MS;
    const at = [half - 2, half - 1, half, half + 1].map((time) => anImpression({ at: time }));
    await watch(stores, at);
    const freed = await stores.cleaner.trim([deviceId], epochMs(half + KEEP_MS));
    expect(freed).toEqual({ window: 2, history: 2, reservations: 0 });
    const { views } = await stores.decisions.read({ deviceId, breakKey, sinceMs: 0 });
    expect(views.map((view) => view.at)).toEqual([half, half + 1]);
    expect(await watch(stores, at)).toEqual(['repeat', 'repeat', 'repeat', 'repeat']);
    expect(await cards(stores, redis)).toEqual([6, 6]);
  });

  test('drops a guard in the hour after its record', async ({ stores, redis }) => {
    const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
    const guards = async (): Promise<number> =>
      redis.zcount(stores.deviceKeys(deviceId).window, '-inf', '(0');
    await watch(stores, [anImpression({ at: hour - 1 }), anImpression({ at: hour })]);
    await stores.cleaner.trim([deviceId], epochMs(hour - 1 + KEEP_MS));
    expect(await guards()).toBe(2);
    await stores.cleaner.trim([deviceId], epochMs(hour + HOUR_MS - 1 + KEEP_MS));
    expect(await guards()).toBe(1);
    await stores.cleaner.trim([deviceId], epochMs(hour + HOUR_MS + KEEP_MS));
    expect(await redis.exists(stores.deviceKeys(deviceId).window)).toBe(0);
  });

  test('B02: the sets of a device that watches every 50 minutes stop growing after a day, and its window slides', async ({
    stores,
    redis,
  }) => {
    const sizes: number[][] = [];
    for (let minute = 0; minute <= 3 * 24 * 60; minute += 50) {
      const at = now + minute * MINUTE_MS;
      await watch(stores, [anImpression({ at })]);
      const inTwoHours = await stores.decisions.read({ deviceId, breakKey, sinceMs: at - 2 * HOUR_MS });
      expect(inTwoHours.views.length).toBe(Math.min(3, minute / 50 + 1));
      await stores.cleaner.trim([deviceId], epochMs(at));
      sizes.push(await cards(stores, redis));
    }
    const aDay = Math.ceil(KEEP_MS / (50 * MINUTE_MS));
    for (const [window = 0, history = 0] of sizes.slice(aDay)) {
      expect(window / 2).toBeLessThanOrEqual(aDay + 2);
      expect(history).toBe(window);
    }
  });

  test('keeps the newest impressions of a device, by impression time, each with its guard', async ({
    stores,
    redis,
  }) => {
    const limit = LIMITS.impressionsPerDevice;
    // Told youngest first, and 600 of the oldest in one millisecond: only some of those fit.
    const young = Array.from({ length: limit - 100 }, (_, index) => anImpression({ at: now - index }));
    const old = Array.from({ length: 1_600 }, () => anImpression({ at: now - HOUR_MS }));
    await watch(stores, [...young, ...old]);
    expect(await stores.cleaner.trim([deviceId], epochMs(now))).toEqual({
      window: 1_500,
      history: 1_500,
      reservations: 0,
    });
    expect(await cards(stores, redis)).toEqual([2 * limit, 2 * limit]);

    const outcomes = await watch(stores, young);
    expect(new Set(outcomes)).toEqual(new Set(['repeat']));
    const { views } = await stores.decisions.read({ deviceId, breakKey, sinceMs: 0 });
    expect(views.filter(({ at }) => at > now - HOUR_MS)).toHaveLength(young.length);
    // Whoever was kept is still guarded, whoever was dropped is not: none was left with half of itself.
    expect((await watch(stores, old)).filter((outcome) => outcome === 'new')).toHaveLength(1_500);
    expect(await redis.zcount(stores.deviceKeys(deviceId).window, '-inf', '(0')).toBe(limit + 1_500);
  });

  test('drops expired reservations and leaves the live ones', async ({ stores, redis }) => {
    const add = [
      aReservation({ at: now, expiresAt: Date.now() + 100 }),
      aReservation({ at: now, expiresAt: now + HOUR_MS, slot: 2 }),
    ];
    const commit = {
      deviceId,
      breakKey,
      expectedVersion: 0,
      notAfterMs: now + HOUR_MS,
      remove: [],
      add,
      storedPod: '',
      podExpiresAtMs: now + HOUR_MS,
    };
    expect((await stores.decisions.commit(commit)).kind).toBe('committed');
    await waitFor(async () => (await stores.decisions.inspect(deviceId)).reservations.length === 1, {
      what: 'the first expires',
    });
    expect((await stores.cleaner.trim([deviceId], epochMs(now))).reservations).toBe(1);
    expect(await redis.zcard(stores.deviceKeys(deviceId).reservations)).toBe(1);
    expect((await stores.cleaner.trim([deviceId], epochMs(now))).reservations).toBe(0);
  });

  test('B09: gives a TTL to every key of the device that has none, and leaves the others', async ({
    stores,
    redis,
  }) => {
    await watch(stores, [anImpression({ at: now })]);
    await stores.decisions.commit({
      deviceId,
      breakKey,
      expectedVersion: 0,
      notAfterMs: now + HOUR_MS,
      remove: [],
      add: [aReservation({ at: now, expiresAt: now + HOUR_MS })],
      storedPod: '',
      podExpiresAtMs: now + HOUR_MS,
    });
    const { window, history, reservations, meta } = stores.deviceKeys(deviceId);
    for (const key of [window, reservations, meta]) await redis.persist(key);
    await redis.pexpire(history, MINUTE_MS);
    await stores.cleaner.trim([deviceId], epochMs(now));
    expect(await redis.pttl(window)).toBeGreaterThan(KEEP_MS - MINUTE_MS);
    expect(Math.round((await redis.pttl(reservations)) / MINUTE_MS)).toBe(60);
    expect(await redis.pttl(meta)).toBeGreaterThan(48 * HOUR_MS);
    expect(await redis.pttl(history)).toBeLessThanOrEqual(MINUTE_MS);
  });

  test('of nobody and of unknown devices does nothing', async ({ stores, redis, keyPrefix }) => {
    const nothing = { window: 0, history: 0, reservations: 0 };
    expect(await stores.cleaner.trim([], epochMs(now))).toEqual(nothing);
    expect(await stores.cleaner.trim(['a', 'b', 'a'], epochMs(now))).toEqual(nothing);
    expect(await redis.keys(`${keyPrefix}*`)).toEqual([]);
  });

  test('goes on after the server has lost its scripts', async ({ stores, redis }) => {
    await watch(stores, [anImpression({ at: now })]);
    await redis.script('FLUSH');
    const devices = Array.from({ length: 30 }, (_, index) => `tv-${index}`);
    expect(await stores.cleaner.trim(devices, epochMs(now + KEEP_MS + 1))).toEqual({
      window: 1,
      history: 1,
      reservations: 0,
    });
  });
});

describe('scanForStray', () => {
  test('finds every key without a TTL in resumable steps, and leaves what lives for ever on purpose', async ({
    stores,
    redis,
    keyPrefix,
  }) => {
    const devices = Array.from({ length: 40 }, (_, index) => stores.deviceKeys(`tv-${index}`).window);
    await Promise.all(devices.map((key) => redis.zadd(key, now, 'x')));
    await redis.hset(stores.keys.rules, 'version', 1);
    await redis.hset(stores.keys.applied('g'), '0', 1);
    let cursor = '0';
    let mended = 0;
    do {
      const step = await stores.cleaner.scanForStray({ cursor, count: 10 });
      mended += step.mended;
      cursor = step.cursor;
    } while (cursor !== '0');
    expect(mended).toBe(40);
    const ttls = await Promise.all(devices.map((key) => redis.pttl(key)));
    expect(Math.min(...ttls)).toBeGreaterThan(KEEP_MS);
    expect(await redis.pttl(stores.keys.rules)).toBe(-1);
    expect(await redis.pttl(stores.keys.applied('g'))).toBe(-1);
    expect(keyPrefix).toBe(stores.keys.prefix);
  });
});
