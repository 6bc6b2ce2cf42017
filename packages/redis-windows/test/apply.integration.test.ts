import { randomBytes } from 'node:crypto';
import { breakKeyOf, reservationFingerprint } from '@adcap/identity';
import type { Reservation } from '@adcap/rule-engine';
import { describe, expect } from 'vitest';
import { connectRedis } from '../src/index.ts';
import { anImpression } from './an-impression.ts';
import {
  apply,
  aReservation,
  HOUR_MS,
  historyViews,
  KEEP_MS,
  openStores,
  quiet,
  type Stores,
  test,
} from './stores.ts';

const MINUTE_MS = 60_000;
const now = Date.now();

/** Both stores promise the same; every case runs against each. */
describe.for(['window', 'history'] as const)('the %s', (kind) => {
  const put = (stores: Stores, events: Parameters<typeof apply>[2]) =>
    apply(stores[kind], stores.connection, events);

  const countSince = async (stores: Stores, sinceMs: number, deviceId = 'tv-1'): Promise<number> =>
    kind === 'window'
      ? (await stores.decisions.read({ deviceId, breakKey: breakKeyOf('s', 'b'), sinceMs })).views.length
      : (await historyViews(stores, { deviceId, sinceMs })).length;

  const reserve = async (stores: Stores, add: Reservation[]): Promise<void> => {
    const { version, nowMs } = await stores.decisions.read({
      deviceId: 'tv-1',
      breakKey: breakKeyOf('s', 'b'),
      sinceMs: 0,
    });
    const outcome = await stores.decisions.commit({
      deviceId: 'tv-1',
      breakKey: breakKeyOf('s', 'b'),
      expectedVersion: version,
      notAfterMs: nowMs + MINUTE_MS,
      remove: [],
      add,
      storedPod: '{}',
      podExpiresAtMs: nowMs + MINUTE_MS,
    });
    expect(outcome.kind).toBe('committed');
  };

  const held = async (stores: Stores) => {
    const { reservations, version } = await stores.decisions.inspect('tv-1');
    return { ids: reservations.map(({ id }) => id), version };
  };

  test('B01: counts three impressions of one millisecond as three, and one that came three times as one', async ({
    stores,
  }) => {
    const three = [1, 2, 3].map(() => anImpression({ at: now }));
    const one = anImpression({ at: now, deviceId: 'tv-2' });
    expect(await put(stores, [...three, one, one, one])).toEqual([
      'new',
      'new',
      'new',
      'new',
      'repeat',
      'repeat',
    ]);
    expect(await countSince(stores, now - 1)).toBe(3);
    expect(await countSince(stores, now - 1, 'tv-2')).toBe(1);
  });

  test('changes nothing when everything is applied again', async ({ stores, redis }) => {
    const events = Array.from({ length: 20 }, (_, index) => anImpression({ at: now - index * 7_000 }));
    await put(stores, events);
    const key = stores.deviceKeys('tv-1')[kind];
    const before = await redis.dumpBuffer(key);
    expect(await put(stores, events)).toEqual(events.map(() => 'repeat'));
    expect(await redis.dumpBuffer(key)).toEqual(before);
  });

  test('lets the first of two tellings win: a repeat moves no time', async ({ stores }) => {
    const first = anImpression({ at: now - HOUR_MS, impressionId: 'same' });
    const second = anImpression({ at: now, impressionId: 'same' });
    expect(await put(stores, [first])).toEqual(['new']);
    expect(await put(stores, [second])).toEqual(['repeat']);
    expect(await countSince(stores, now - HOUR_MS - 1)).toBe(1);
    expect(await countSince(stores, now - HOUR_MS)).toBe(0);
  });

  test.for([
    [29_999, 'c-1', 'repeat'],
    [-29_999, 'c-1', 'repeat'],
    [30_000, 'c-1', 'new'],
    [-30_000, 'c-1', 'new'],
    [0, 'c-2', 'new'],
  ] as const)(
    'of two views with nothing to tell them apart, %i ms apart and the second of %s, counts the second as %s',
    async ([distance, creativeId, outcome], { stores }) => {
      const bare = { impressionId: undefined };
      await put(stores, [anImpression({ ...bare, at: now - HOUR_MS })]);
      expect(
        await put(stores, [anImpression({ ...bare, creativeId, at: now - HOUR_MS + distance })]),
      ).toEqual([outcome]);
    },
  );

  test('measures the moment from the last counted view, not from the last told one', async ({ stores }) => {
    const told = [0, 20_000, 40_000, 60_000, 75_000].map((after) =>
      anImpression({ impressionId: undefined, at: now - HOUR_MS + after }),
    );
    expect(await put(stores, told)).toEqual(['new', 'repeat', 'new', 'repeat', 'new']);
  });

  test('does not fold views that have an id into a moment', async ({ stores }) => {
    const bare = anImpression({ impressionId: undefined, at: now });
    expect(await put(stores, [bare, anImpression({ at: now }), anImpression({ at: now + 1 })])).toEqual([
      'new',
      'new',
      'new',
    ]);
  });

  test('takes what is as old as it keeps, and leaves out what cleanup would have dropped', async ({
    stores,
    redis,
  }) => {
    const old = anImpression({ at: Date.now() - KEEP_MS - 1 });
    const young = anImpression({ at: Date.now() - KEEP_MS + MINUTE_MS });
    expect(await put(stores, [old])).toEqual(['expired']);
    expect(await redis.exists(stores.deviceKeys('tv-1')[kind])).toBe(0);
    expect(await put(stores, [old, young])).toEqual(['expired', 'new']);
  });

  test('refuses what was received until its device was erased, and takes what came after', async ({
    stores,
  }) => {
    await put(stores, [anImpression({ at: now - 1 })]);
    await stores.decisions.erase('tv-1');
    const erasedAt = (await stores.decisions.inspect('tv-1')).erasedAt ?? 0;
    const received = (receivedAt: number) => anImpression({ at: now - MINUTE_MS, receivedAt });
    expect(await put(stores, [received(erasedAt), received(erasedAt + 1)])).toEqual(['erased', 'new']);
    expect(await countSince(stores, 0)).toBe(1);
  });

  test('B09: has a TTL from its first write on, which every later write makes whole again', async ({
    stores,
    redis,
  }) => {
    const key = stores.deviceKeys('tv-1')[kind];
    await put(stores, [anImpression({ at: now })]);
    expect(await redis.pttl(key)).toBeGreaterThan(KEEP_MS - MINUTE_MS);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(KEEP_MS);
    await redis.pexpire(key, MINUTE_MS);
    await put(stores, [anImpression({ at: now - HOUR_MS })]);
    expect(await redis.pttl(key)).toBeGreaterThan(KEEP_MS - MINUTE_MS);
  });

  test('turns the reservation that an impression names into it, also on the second telling', async ({
    stores,
  }) => {
    const named = (reservationId: string) =>
      aReservation({ at: now, expiresAt: now + HOUR_MS, id: reservationFingerprint('tv-1', reservationId) });
    const [one, two] = [named('token-1'), named('token-2')];
    const event = anImpression({ at: now, reservationId: 'token-1' });
    await reserve(stores, [one, two]);
    expect(await put(stores, [event])).toEqual(['new']);
    expect(await held(stores)).toEqual({ ids: [two.id], version: 2 });

    await reserve(stores, [one]);
    expect(await put(stores, [event])).toEqual(['repeat']);
    expect(await held(stores)).toEqual({ ids: [two.id], version: 4 });
  });

  test('turns the reservation of the same break, slot and creative into an impression that names none', async ({
    stores,
  }) => {
    const place = { at: now, expiresAt: now + HOUR_MS };
    const slots = [1, 2, 3].map((slot) => aReservation({ ...place, slot }));
    await reserve(stores, slots);
    await put(stores, [anImpression({ at: now, sessionId: 's-1', breakId: 'b-1', slot: 2 })]);
    expect((await held(stores)).ids).toEqual([slots[0]?.id, slots[2]?.id]);
  });

  test('leaves a reservation of the place alone that was granted after the impression came', async ({
    stores,
  }) => {
    const decidedAnew = aReservation({ at: now, expiresAt: now + HOUR_MS, grantedAt: now + 1 });
    await reserve(stores, [decidedAnew]);
    const view = { at: now, sessionId: 's-1', breakId: 'b-1', slot: 1 };
    await put(stores, [anImpression({ ...view, receivedAt: now })]);
    expect(await held(stores)).toEqual({ ids: [decidedAnew.id], version: 1 });
    await put(stores, [anImpression({ ...view, receivedAt: now + 1 })]);
    expect((await held(stores)).ids).toEqual([]);
  });

  test('prefers the reservation that is named to the one of the place', async ({ stores }) => {
    const atPlace = aReservation({ at: now, expiresAt: now + HOUR_MS });
    const named = aReservation({
      at: now,
      expiresAt: now + 2 * HOUR_MS,
      slot: 9,
      id: reservationFingerprint('tv-1', 'token'),
    });
    await reserve(stores, [atPlace, named]);
    await put(stores, [
      anImpression({ at: now, sessionId: 's-1', breakId: 'b-1', slot: 1, reservationId: 'token' }),
    ]);
    expect((await held(stores)).ids).toEqual([atPlace.id]);
  });

  test.for([
    ['another session', { sessionId: 's-2', breakId: 'b-1', slot: 1 }],
    ['another break', { sessionId: 's-1', breakId: 'b-2', slot: 1 }],
    ['another slot', { sessionId: 's-1', breakId: 'b-1', slot: 2 }],
    ['no slot', { sessionId: 's-1', breakId: 'b-1' }],
    ['no break', { slot: 1 }],
    ['another creative', { sessionId: 's-1', breakId: 'b-1', slot: 1, creativeId: 'c-2' }],
  ] as const)('leaves a reservation alone when the impression has %s', async ([, where], { stores }) => {
    const reservation = aReservation({ at: now, expiresAt: now + HOUR_MS });
    await reserve(stores, [reservation]);
    await put(stores, [anImpression({ at: now, ...where })]);
    expect(await held(stores)).toEqual({ ids: [reservation.id], version: 1 });
  });

  test('takes one reservation for one impression', async ({ stores }) => {
    const place = { at: now, expiresAt: now + HOUR_MS };
    await reserve(stores, [aReservation(place), aReservation(place)]);
    await put(stores, [anImpression({ at: now, sessionId: 's-1', breakId: 'b-1', slot: 1 })]);
    expect((await held(stores)).ids).toHaveLength(1);
  });

  test('writes only its own key where nothing was reserved', async ({ stores, redis, keyPrefix }) => {
    await put(stores, [anImpression({ at: now })]);
    const keys = await redis.keys(`${keyPrefix}*`);
    expect(keys.toSorted()).toEqual(
      [stores.deviceKeys('tv-1')[kind], stores.keys.applied('test')].toSorted(),
    );
  });

  test('says how far it has come, also after a batch in which nothing could be read', async ({
    stores,
    redis,
  }) => {
    const applied = { group: 'g', partition: 3, epoch: stores.connection.epoch() };
    await stores[kind].applyBatch({ events: [], applied: { ...applied, nextOffset: 41n } });
    expect(await redis.hgetall(stores.keys.applied('g'))).toEqual({ 3: '41' });
    await stores[kind].applyBatch({
      events: [anImpression({ at: now })],
      applied: { ...applied, nextOffset: 9_007_199_254_740_993n },
    });
    expect(await redis.hgetall(stores.keys.applied('g'))).toEqual({
      3: '9007199254740993',
      '3:at': String(now),
    });
  });

  test('writes nothing in another epoch than the one in which the partition was positioned', async ({
    stores,
    redis,
    keyPrefix,
  }) => {
    const applied = { group: 'g', partition: 0, nextOffset: 1n, epoch: stores.connection.epoch() - 1 };
    const results = await stores[kind].applyBatch({ events: [anImpression({ at: now })], applied });
    expect(results).toMatchObject([{ kind: 'failed', retryable: true }]);
    expect(await redis.keys(`${keyPrefix}*`)).toEqual([]);
  });

  test('applies the others when the key of one device is spoilt, and does not wait for that one', async ({
    stores,
    redis,
  }) => {
    await redis.set(stores.deviceKeys('spoilt')[kind], 'something else');
    const events = ['tv-1', 'spoilt', 'tv-2'].map((deviceId) => anImpression({ at: now, deviceId }));
    const applied = { group: 'g', partition: 0, nextOffset: 7n, epoch: stores.connection.epoch() };
    const results = await stores[kind].applyBatch({ events, applied });
    expect(results).toMatchObject([{ kind: 'new' }, { kind: 'failed', retryable: false }, { kind: 'new' }]);
    expect(await redis.hget(stores.keys.applied('g'), '0')).toBe('7');
  });

  test('answers a batch whose offset cannot be written as one to apply again', async ({ stores, redis }) => {
    await redis.set(stores.keys.applied('g'), 'something else');
    const batch = {
      events: [anImpression({ at: now })],
      applied: { group: 'g', partition: 0, nextOffset: 7n, epoch: stores.connection.epoch() },
    };
    expect(await stores[kind].applyBatch(batch)).toMatchObject([{ kind: 'failed', retryable: true }]);
    await redis.del(stores.keys.applied('g'));
    expect(await stores[kind].applyBatch(batch)).toEqual([{ kind: 'repeat' }]);
  });

  test('goes on after the server has lost its scripts', async ({ stores, redis }) => {
    await put(stores, [anImpression({ at: now })]);
    await redis.script('FLUSH');
    const events = Array.from({ length: 50 }, (_, index) =>
      anImpression({ at: now, deviceId: `tv-${index}` }),
    );
    expect(await put(stores, events)).toEqual(events.map(() => 'new'));
    expect(await put(stores, events)).toEqual(events.map(() => 'repeat'));
  });

  test('takes thousands of one device in one batch, in the order of the events', async ({ stores }) => {
    const events = Array.from({ length: 700 }, (_, index) =>
      anImpression({ at: now - index, impressionId: `i-${index % 600}` }),
    );
    const results = await put(stores, events);
    expect(results.slice(0, 600)).toEqual(Array.from({ length: 600 }, () => 'new'));
    expect(results.slice(600)).toEqual(Array.from({ length: 100 }, () => 'repeat'));
    expect(await countSince(stores, 0)).toBe(600);
  });

  test('counts each impression once when many clients apply the same ones at once', async ({
    redisUrl,
    keyPrefix,
    stores,
  }) => {
    const events = Array.from({ length: 60 }, (_, index) =>
      anImpression({ at: now - index * 1_000, deviceId: `tv-${index % 5}` }),
    );
    const clients = Array.from({ length: 6 }, () =>
      connectRedis({ url: redisUrl, name: randomBytes(2).toString('hex'), logger: quiet, role: 'writer' }),
    );
    await Promise.all(clients.map((client) => client.whenReady()));
    const outcomes = await Promise.all(
      clients.map((client) => apply(openStores(client, stores.keys)[kind], client, events)),
    );
    await Promise.all(clients.map((client) => client.close()));
    expect(outcomes.flat().filter((outcome) => outcome === 'new')).toHaveLength(60);
    expect(outcomes.flat().filter((outcome) => outcome === 'repeat')).toHaveLength(300);
    expect(keyPrefix).toBe(stores.keys.prefix);
  });
});
