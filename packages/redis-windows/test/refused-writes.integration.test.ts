import { breakKeyOf } from '@adcap/identity';
import { createRedisControl, startOwnRedis } from '@adcap/testkit';
import { expect, test } from 'vitest';
import { connectRedis, createKeys, isRetryableStoreError } from '../src/index.ts';
import { aReservation, HOUR_MS, openStores, quiet } from './stores.ts';

/*
 * Redis refuses what would need memory that it lacks only before a script has written anything. The commit dropped expired
 * reservations first, so that it filled a full Redis further.
 */

const of = { deviceId: 'tv-1', breakKey: breakKeyOf('s-1', 'b-1') };

const REFUSALS = [
  { what: 'out of memory', begin: 'CONFIG SET maxmemory 1', end: 'CONFIG SET maxmemory 0' },
  { what: 'read-only', begin: 'REPLICAOF 127.0.0.1 1', end: 'REPLICAOF NO ONE' },
];

test.for(REFUSALS)('a Redis that is $what takes no commit, and no part of one', async ({ begin, end }) => {
  await using redis = await startOwnRedis();
  using control = createRedisControl(redis.address);
  const connection = connectRedis({ url: redis.address, name: 'own', logger: quiet, role: 'decision' });
  await connection.whenReady();
  const { decisions } = openStores(connection, createKeys('x:'));
  const now = Date.now();
  const granted = [1, 2].map((slot) => aReservation({ at: now, expiresAt: now + HOUR_MS, slot }));
  const commit = {
    ...of,
    notAfterMs: now + HOUR_MS,
    podExpiresAtMs: now + HOUR_MS,
    storedPod: '{"pod":1}',
    remove: [],
    add: granted,
  };
  await decisions.commit({ ...commit, expectedVersion: 0 });
  const before = await decisions.read({ ...of, sinceMs: 0 });

  await control.run(begin);
  const moved = granted.map((one) => aReservation({ ...one, at: now + 1, expiresAt: now + HOUR_MS }));
  const refused = await decisions
    .commit({ ...commit, expectedVersion: 1, storedPod: '{"pod":2}', remove: granted, add: moved })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Error);
  expect(isRetryableStoreError(refused)).toBe(true);
  await control.run(end);
  expect(await decisions.read({ ...of, sinceMs: 0 })).toEqual({ ...before, nowMs: expect.any(Number) });
  await connection.close();
});
