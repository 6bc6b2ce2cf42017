import { breakKeyOf } from '@adcap/identity';
import type { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { type Commit, connectRedis, createDecisionStore } from '../src/index.ts';
import { anImpression } from './an-impression.ts';
import {
  apply,
  aReservation,
  HOUR_MS,
  historyViews,
  quiet,
  retention,
  type Stores,
  test,
  waitFor,
} from './stores.ts';

const now = Date.now();
const deviceId = 'tv-1';
const breakKey = breakKeyOf('s-1', 'b-1');
const ALL = { deviceId, breakKey, sinceMs: 0 };

const commitOf = (overrides: Partial<Commit> = {}): Commit => ({
  deviceId,
  breakKey,
  expectedVersion: 0,
  notAfterMs: Date.now() + HOUR_MS,
  remove: [],
  add: [],
  storedPod: '{"pod":1}',
  podExpiresAtMs: now + HOUR_MS,
  ...overrides,
});

const reserved = (count: number, expiresAt = now + HOUR_MS) =>
  Array.from({ length: count }, (_, index) => aReservation({ at: now, expiresAt, slot: index + 1 }));

/** Every key of the test with its bytes and whether it will go by itself. */
const stateOf = async (redis: Redis, prefix: string) => {
  const keys = (await redis.keys(`${prefix}*`)).toSorted();
  return Promise.all(
    keys.map(async (key) => ({
      key,
      bytes: (await redis.dumpBuffer(key))?.toString('hex'),
      hasTtl: (await redis.pttl(key)) > 0,
    })),
  );
};

const watch = (stores: Stores, times: readonly number[]) => {
  const events = times.map((at) => anImpression({ at }));
  return Promise.all([
    apply(stores.window, stores.connection, events),
    apply(stores.history, stores.connection, events),
  ]);
};

describe('read', () => {
  test('of a device that nobody knows is empty and stays so', async ({ stores, redis, keyPrefix }) => {
    const reading = await stores.decisions.read(ALL);
    expect(reading).toEqual({
      nowMs: expect.any(Number),
      version: 0,
      views: [],
      isComplete: true,
      reservations: [],
      storedPod: undefined,
    });
    expect(Math.abs(reading.nowMs - Date.now())).toBeLessThan(10_000);
    expect(await redis.keys(`${keyPrefix}*`)).toEqual([]);
  });

  test('begins after sinceMs, goes on without end, and tells the time order', async ({ stores }) => {
    await watch(stores, [now + HOUR_MS, now, now - 1, now + 1]);
    const since = async (sinceMs: number) => {
      const { views, isComplete } = await stores.decisions.read({ ...ALL, sinceMs });
      return { times: views.map(({ at }) => at), isComplete };
    };
    expect(await since(now)).toEqual({ times: [now + 1, now + HOUR_MS], isComplete: true });
    expect(await since(now - 1)).toEqual({
      times: [now, now + 1, now + HOUR_MS],
      isComplete: true,
    });
    expect((await since(now - 2)).times).toHaveLength(4);
    for (const everything of [0, -1, -1e15]) expect((await since(everything)).times).toHaveLength(4);
  });

  test('says when the window holds less than the history', async ({ stores }) => {
    const events = [now - 2, now - 1, now].map((at) => anImpression({ at }));
    await apply(stores.history, stores.connection, events);
    await apply(stores.window, stores.connection, events.slice(0, 1));
    expect(await stores.decisions.read(ALL)).toMatchObject({ views: [{ at: now - 2 }], isComplete: false });
  });

  test('says when a window that was lost has begun anew and holds as many as the history', async ({
    stores,
    redis,
  }) => {
    const before = anImpression({ at: now - 2 });
    const after = anImpression({ at: now });
    await apply(stores.history, stores.connection, [before]);
    await apply(stores.window, stores.connection, [before]);
    await redis.del(stores.deviceKeys(deviceId).window);
    await apply(stores.window, stores.connection, [after]);
    expect(await stores.decisions.read(ALL)).toMatchObject({ views: [{ at: now }], isComplete: false });
    expect(await stores.decisions.read({ ...ALL, sinceMs: now - 1 })).toMatchObject({ isComplete: true });
  });

  test('of both has each impression once, whichever consumer is ahead', async ({ stores }) => {
    const events = [now - 2, now - 1, now].map((at) => anImpression({ at }));
    await apply(stores.history, stores.connection, events.slice(0, 2));
    await apply(stores.window, stores.connection, events.slice(1));
    const { views, isComplete } = await stores.decisions.read({ ...ALL, from: 'both' });
    expect([new Set(views.map(({ at }) => at)), views.length, isComplete]).toEqual([
      new Set([now - 2, now - 1, now]),
      3,
      true,
    ]);
    const since = await stores.decisions.read({ ...ALL, sinceMs: now - 2, from: 'both' });
    expect(since.views.map(({ at }) => at)).toEqual([now - 1, now]);
  });

  test('and the history give the same views', async ({ stores }) => {
    await watch(stores, [now - 3_000, now - 2_000, now - 1_000, now]);
    const { views } = await stores.decisions.read({ ...ALL, sinceMs: now - 2_500 });
    expect(views).toHaveLength(3);
    expect(await historyViews(stores, { deviceId, sinceMs: now - 2_500 })).toEqual(views);
  });

  test('B03: gives the same answers whatever was asked before, from either store', async ({
    stores,
    redis,
  }) => {
    await watch(stores, [now, now + 1]);
    const counts = async () => {
      const answers: number[][] = [];
      for (const at of [now + 3_600_001, now + 3_599_999, now + 3_600_000]) {
        const sinceMs = at - HOUR_MS;
        const { views } = await stores.decisions.read({ ...ALL, sinceMs });
        const history = await historyViews(stores, { deviceId, sinceMs });
        answers.push([views.length, history.length]);
      }
      return answers;
    };
    const expected = [
      [0, 0],
      [2, 2],
      [1, 1],
    ];
    expect(await counts()).toEqual(expected);
    await redis.del(stores.deviceKeys(deviceId).window);
    expect(await counts()).toEqual(expected.map(([, history]) => [0, history]));
  });

  test('shows live reservations by expiry, and each until its expiry', async ({ stores }) => {
    const [later] = reserved(1);
    const sooner = aReservation({ at: now, expiresAt: Date.now() + 300, slot: 2 });
    if (later === undefined) throw new Error('no reservation');
    await stores.decisions.commit(commitOf({ add: [later, sooner] }));
    expect((await stores.decisions.read(ALL)).reservations).toEqual([sooner, later]);
    const after = await waitFor(
      async () => {
        const reading = await stores.decisions.read(ALL);
        return reading.reservations.length === 1 ? reading : undefined;
      },
      { what: 'the sooner reservation expires' },
    );
    expect(after.reservations).toEqual([later]);
    expect(after.nowMs).toBeGreaterThanOrEqual(sooner.expiresAt);
  });

  test('changes nothing, and neither does any other look', async ({ stores, redis, keyPrefix }) => {
    await watch(stores, [now - 30 * HOUR_MS + 10 * HOUR_MS, now]);
    await stores.decisions.commit(
      commitOf({ add: [...reserved(2), aReservation({ at: now, expiresAt: Date.now() + 1 })] }),
    );
    const before = await stateOf(redis, keyPrefix);
    for (const sinceMs of [0, now - 1, now + HOUR_MS]) {
      await stores.decisions.read({ ...ALL, sinceMs });
      await stores.decisions.read({ ...ALL, sinceMs, from: 'both' });
    }
    await stores.decisions.inspect(deviceId);
    expect(before.length).toBeGreaterThan(4);
    expect(await stateOf(redis, keyPrefix)).toEqual(before);
  });

  test('throws where a key is spoilt, instead of an empty answer', async ({ stores, redis }) => {
    await redis.set(stores.deviceKeys(deviceId).window, 'something else');
    await expect(stores.decisions.read(ALL)).rejects.toThrow('WRONGTYPE');
  });
});

describe('commit', () => {
  test('stores reservations and pod, raises the version, and gives each key its TTL', async ({
    stores,
    redis,
  }) => {
    const add = reserved(3, now + 2 * HOUR_MS);
    expect(await stores.decisions.commit(commitOf({ add }))).toEqual({ kind: 'committed', version: 1 });
    expect(await stores.decisions.read(ALL)).toMatchObject({
      version: 1,
      reservations: add,
      storedPod: '{"pod":1}',
    });
    const keys = stores.deviceKeys(deviceId);
    const ttl = async (key: string): Promise<number> => Math.round((await redis.pttl(key)) / 60_000);
    expect(await ttl(keys.reservations)).toBe(120);
    expect(await ttl(keys.pod(breakKey))).toBe(60);
    expect(await ttl(keys.meta)).toBe(72 * 60);
  });

  test('keeps the reservations as long as the last of them', async ({ stores, redis }) => {
    await stores.decisions.commit(commitOf({ add: reserved(1, now + 36 * HOUR_MS) }));
    await stores.decisions.commit(commitOf({ expectedVersion: 1, add: reserved(1, now + HOUR_MS) }));
    const ttlMs = await redis.pttl(stores.deviceKeys(deviceId).reservations);
    expect(Math.round(ttlMs / HOUR_MS)).toBe(36);
  });

  test('stores a pod that holds nothing', async ({ stores, redis }) => {
    expect((await stores.decisions.commit(commitOf({ storedPod: '[]' }))).kind).toBe('committed');
    expect((await stores.decisions.read(ALL)).storedPod).toBe('[]');
    expect(await redis.exists(stores.deviceKeys(deviceId).reservations)).toBe(0);
  });

  test('keeps the pods of two breaks apart', async ({ stores }) => {
    await stores.decisions.commit(commitOf());
    const other = { deviceId, breakKey: breakKeyOf('s-2', 'b-1'), sinceMs: 0 };
    expect((await stores.decisions.read(other)).storedPod).toBeUndefined();
  });

  test.for([
    ['an older version', { expectedVersion: 0 }, 'conflict'],
    ['a version that never was', { expectedVersion: 2 }, 'conflict'],
    ['a limit that has passed', { expectedVersion: 1, notAfterMs: now - 1 }, 'too_late'],
    ['both', { expectedVersion: 0, notAfterMs: now - 1 }, 'too_late'],
  ] as const)('refuses %s and leaves nothing', async ([, overrides, kind], { stores, redis, keyPrefix }) => {
    await stores.decisions.commit(commitOf({ add: reserved(1) }));
    const before = await stateOf(redis, keyPrefix);
    const late = commitOf({ ...overrides, add: reserved(2), breakKey: breakKeyOf('s-9', 'b-9') });
    expect(await stores.decisions.commit(late)).toEqual({ kind });
    expect(await stateOf(redis, keyPrefix)).toEqual(before);
  });

  test('takes 200 live reservations and not one more, but lets one take the place of another', async ({
    stores,
  }) => {
    const all = Array.from({ length: 200 }, (_, index) =>
      aReservation({ at: now, expiresAt: now + HOUR_MS, slot: (index % 20) + 1 }),
    );
    const one = aReservation({ at: now, expiresAt: now + HOUR_MS });
    expect((await stores.decisions.commit(commitOf({ add: [...all, one] }))).kind).toBe('full');
    expect((await stores.decisions.commit(commitOf({ add: all }))).kind).toBe('committed');
    expect((await stores.decisions.commit(commitOf({ expectedVersion: 1, add: [one] }))).kind).toBe('full');
    const swap = commitOf({ expectedVersion: 1, remove: all.slice(0, 1), add: [one] });
    expect((await stores.decisions.commit(swap)).kind).toBe('committed');
    expect((await stores.decisions.commit(commitOf({ expectedVersion: 2, storedPod: '[]' }))).kind).toBe(
      'committed',
    );
    expect((await stores.decisions.read(ALL)).reservations).toHaveLength(200);
  });

  test('does not count what has expired, and drops it', async ({ stores, redis }) => {
    const expiring = Array.from({ length: 200 }, () =>
      aReservation({ at: now, expiresAt: Date.now() + 200 }),
    );
    await stores.decisions.commit(commitOf({ add: expiring.slice(0, 199) }));
    const lasting = reserved(1);
    expect((await stores.decisions.commit(commitOf({ expectedVersion: 1, add: lasting }))).kind).toBe(
      'committed',
    );
    await waitFor(async () => (await stores.decisions.read(ALL)).reservations.length === 1, {
      what: 'the short ones expire',
    });
    expect((await stores.decisions.commit(commitOf({ expectedVersion: 2, add: reserved(1) }))).kind).toBe(
      'committed',
    );
    expect(await redis.zcard(stores.deviceKeys(deviceId).reservations)).toBe(2);
  });

  test('moves a break: what was read is removed by its bytes', async ({ stores }) => {
    const before = reserved(2);
    await stores.decisions.commit(commitOf({ add: before }));
    const { reservations } = await stores.decisions.read(ALL);
    const moved = reservations.map((reservation) => aReservation({ ...reservation, at: now + 500 }));
    await stores.decisions.commit(commitOf({ expectedVersion: 1, remove: reservations, add: moved }));
    expect((await stores.decisions.read(ALL)).reservations).toEqual(moved);
  });

  test('is refused when anything was given away, given back or watched since it read', async ({ stores }) => {
    const [one, two] = reserved(2);
    if (one === undefined || two === undefined) throw new Error('no reservations');
    const versions = [(await stores.decisions.read(ALL)).version];
    await stores.decisions.commit(commitOf({ add: [one, two] }));
    versions.push((await stores.decisions.read(ALL)).version);
    await apply(stores.window, stores.connection, [
      anImpression({ at: now, sessionId: 's-1', breakId: 'b-1', slot: 1 }),
    ]);
    versions.push((await stores.decisions.read(ALL)).version);
    await stores.decisions.release({ deviceId, breakKey });
    versions.push((await stores.decisions.read(ALL)).version);
    await stores.decisions.erase(deviceId);
    versions.push((await stores.decisions.read(ALL)).version);
    expect(versions).toEqual([0, 1, 2, 3, 4]);
    for (const expectedVersion of versions.slice(0, -1))
      expect(await stores.decisions.commit(commitOf({ expectedVersion }))).toEqual({ kind: 'conflict' });
  });

  test('lets one of many decisions win that read the same version', async ({ redisUrl, stores }) => {
    const clients = Array.from({ length: 5 }, () =>
      connectRedis({ url: redisUrl, name: 'rival', logger: quiet, role: 'decision' }),
    );
    await Promise.all(clients.map((client) => client.whenReady()));
    const rivals = clients.map((client) => createDecisionStore(client, { keys: stores.keys, ...retention }));
    const outcomes = await Promise.all(
      rivals.flatMap((rival) => [1, 2, 3].map(() => rival.commit(commitOf({ add: reserved(1) })))),
    );
    await Promise.all(clients.map((client) => client.close()));
    expect(outcomes.filter(({ kind }) => kind === 'committed')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'conflict')).toHaveLength(14);
    expect((await stores.decisions.read(ALL)).reservations).toHaveLength(1);
  });
});

describe('release', () => {
  test('forgets the break and nothing else', async ({ stores, redis }) => {
    const other = aReservation({ at: now, expiresAt: now + HOUR_MS, breakKey: breakKeyOf('s-1', 'b-2') });
    await stores.decisions.commit(commitOf({ add: [...reserved(3), other] }));
    expect(await stores.decisions.release({ deviceId, breakKey })).toBe(3);
    expect(await stores.decisions.read(ALL)).toMatchObject({
      version: 2,
      reservations: [other],
      storedPod: undefined,
    });
    expect(await redis.pttl(stores.deviceKeys(deviceId).reservations)).toBeGreaterThan(0);
  });

  test('forgets a pod that held nothing', async ({ stores }) => {
    await stores.decisions.commit(commitOf());
    expect(await stores.decisions.release({ deviceId, breakKey })).toBe(0);
    expect(await stores.decisions.read(ALL)).toMatchObject({ version: 2, storedPod: undefined });
  });

  test('of nothing is nothing', async ({ stores, redis, keyPrefix }) => {
    expect(await stores.decisions.release({ deviceId, breakKey })).toBe(0);
    expect(await redis.keys(`${keyPrefix}*`)).toEqual([]);
  });
});

describe('erase', () => {
  test('leaves the memory of it and nothing else', async ({ stores, redis, keyPrefix }) => {
    await watch(stores, [now - 1, now]);
    await stores.decisions.commit(commitOf({ add: reserved(2) }));
    await redis.del(stores.keys.applied('test'));
    expect(await stores.decisions.erase(deviceId)).toEqual({ history: 2, window: 2, reservations: 2 });
    expect(await redis.keys(`${keyPrefix}*`)).toEqual([stores.deviceKeys(deviceId).meta]);
    const inspection = await stores.decisions.inspect(deviceId);
    expect(Math.abs((inspection.erasedAt ?? 0) - inspection.nowMs)).toBeLessThan(10_000);
    expect(await redis.pttl(stores.deviceKeys(deviceId).meta)).toBeGreaterThan(48 * HOUR_MS);
  });

  test('of a device that nobody knows is remembered, too: its impressions may still be on their way', async ({
    stores,
  }) => {
    const waiting = anImpression({ at: now, receivedAt: Date.now() - 1 });
    expect(await stores.decisions.erase(deviceId)).toEqual({ history: 0, window: 0, reservations: 0 });
    expect(await apply(stores.window, stores.connection, [waiting])).toEqual(['erased']);
  });

  test('is remembered through what comes after it', async ({ stores, redis }) => {
    await stores.decisions.erase(deviceId);
    const { erasedAt, version } = await stores.decisions.inspect(deviceId);
    await redis.pexpire(stores.deviceKeys(deviceId).meta, 60_000);
    await stores.decisions.commit(commitOf({ expectedVersion: version, add: reserved(1) }));
    expect((await stores.decisions.inspect(deviceId)).erasedAt).toBe(erasedAt);
    expect(await redis.pttl(stores.deviceKeys(deviceId).meta)).toBeGreaterThan(48 * HOUR_MS);
  });
});

describe('inspect', () => {
  test('shows the records, the window and the live reservations', async ({ stores }) => {
    const event = anImpression({
      at: now,
      seller: 'direct',
      sessionId: 's-1',
      breakId: 'b-1',
      slot: 4,
      durationMs: 15_000,
    });
    await apply(stores.window, stores.connection, [event]);
    await apply(stores.history, stores.connection, [event]);
    const add = reserved(1);
    await stores.decisions.commit(commitOf({ add }));
    const inspection = await stores.decisions.inspect(deviceId);
    expect(inspection).toMatchObject({
      version: 1,
      erasedAt: undefined,
      history: [{ creativeId: 'c-1', brandId: 'acme.example', seller: 'direct', slot: 4, at: now }],
      window: [{ fingerprint: event.fingerprint, at: now }],
      reservations: add,
    });
  });
});

test('every call goes on after the server has lost its scripts', async ({ stores, redis }) => {
  const flush = () => redis.script('FLUSH');
  await flush();
  expect((await stores.decisions.commit(commitOf({ add: reserved(1) }))).kind).toBe('committed');
  await flush();
  expect((await stores.decisions.read(ALL)).version).toBe(1);
  await flush();
  expect(
    (await Promise.all([1, 2, 3].map(() => stores.decisions.read(ALL)))).map(({ version }) => version),
  ).toEqual([1, 1, 1]);
  await flush();
  expect(await stores.decisions.release({ deviceId, breakKey })).toBe(1);
  await flush();
  expect((await stores.decisions.erase(deviceId)).reservations).toBe(0);
});
