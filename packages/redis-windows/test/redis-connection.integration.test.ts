import { deviceTag } from '@adcap/identity';
import { startOwnRedis } from '@adcap/testkit';
import { Redis } from 'ioredis';
import { describe, expect, test as plain } from 'vitest';
import { connectRedis, createKeys, isRetryableStoreError, type RedisConnection } from '../src/index.ts';
import { anImpression } from './an-impression.ts';
import { apply, openStores, quiet, test, waitFor } from './stores.ts';

const now = Date.now();
const question = { deviceId: 'tv-1', breakKey: 'AAAAAAAAAAA', sinceMs: 0 };

const rejection = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    return await promise.then(() => 'resolved');
  } catch (error) {
    return error;
  }
};

const connect = (url: string): RedisConnection =>
  connectRedis({ url, name: 'own', logger: quiet, role: 'decision' });

describe('a connection', () => {
  plain(
    'to nowhere rejects every call at once, for good reason to try again, and holds nothing back',
    async () => {
      const connection = connect('redis://127.0.0.1:1');
      const stores = openStores(connection, createKeys('x:'));
      const started = performance.now();
      const errors = await Promise.all(
        Array.from({ length: 100 }, () => rejection(stores.decisions.read(question))),
      );
      expect(performance.now() - started).toBeLessThan(1_000);
      expect(errors.filter((error) => error instanceof Error && isRetryableStoreError(error))).toHaveLength(
        100,
      );
      expect(connection.isReady()).toBe(false);
      expect(connection.epoch()).toBe(0);
      await expect(connection.whenReady(AbortSignal.timeout(50))).rejects.toThrow('not ready');
      await connection.close();
      await expect(connection.whenReady()).rejects.toThrow('not ready');
      await connection.close();
    },
  );

  plain(
    'comes back by itself in another epoch, and nothing that was asked meanwhile is done later',
    async () => {
      await using server = await startOwnRedis();
      const connection = connect(server.address);
      await connection.whenReady();
      expect(connection.epoch()).toBe(1);
      const stores = openStores(connection, createKeys('x:'));
      const event = anImpression({ at: now });
      expect(await apply(stores.window, connection, [event])).toEqual(['new']);
      await server.kill();
      await waitFor(() => !connection.isReady(), { what: 'the loss is noticed' });
      const waiting = new Promise((resolve) => setImmediate(() => resolve('still waiting')));
      expect(await Promise.race([rejection(stores.decisions.read(question)), waiting])).toBeInstanceOf(Error);
      const meanwhile = anImpression({ at: now });
      expect(await apply(stores.window, connection, [meanwhile])).toEqual(['failed']);
      await server.restart();
      await waitFor(() => connection.epoch() === 2, { what: 'the connection is back' });
      const { views } = await stores.decisions.read(question);
      expect(views.length).toBeLessThanOrEqual(1);
      expect(await apply(stores.window, connection, [meanwhile])).toEqual(['new']);
      await connection.close();
    },
  );

  plain('to a server that hangs gives up what is in flight within the socket timeout', async () => {
    await using server = await startOwnRedis();
    const connection = connect(server.address);
    await connection.whenReady();
    const stores = openStores(connection, createKeys('x:'));
    await stores.decisions.read(question);
    await server.pause();
    const started = performance.now();
    const error = await rejection(stores.decisions.read(question));
    expect(performance.now() - started).toBeLessThan(3_000);
    expect(isRetryableStoreError(error)).toBe(true);
    expect(error).toBeInstanceOf(Error);
    await server.resume();
    await waitFor(() => connection.epoch() > 1 && connection.isReady(), { what: 'the connection is back' });
    expect((await stores.decisions.read(question)).version).toBe(0);
    await connection.close();
  });

  plain('refuses a Redis that may evict, and accepts one that may not', async () => {
    await using server = await startOwnRedis();
    const admin = new Redis(server.address);
    const connection = connect(server.address);
    await connection.whenReady();
    await connection.assertUsable();
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(connection.assertUsable()).rejects.toThrow(
      /maxmemory-policy allkeys-lru: set it to noeviction/,
    );
    admin.disconnect();
    await connection.close();
  });

  plain('warns where Redis does not tell', async () => {
    await using server = await startOwnRedis();
    const admin = new Redis(server.address);
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-info', '-config');
    const warnings: string[] = [];
    const logger = { ...quiet, warn: (_: object, message: string) => warnings.push(message) };
    const connection = connectRedis({
      url: server.address.replace('//', '//app:secret@'),
      name: 'acl',
      logger,
      role: 'decision',
    });
    await connection.whenReady();
    await connection.assertUsable();
    expect(warnings).toEqual(['Redis does not tell its eviction policy; make sure that it is noeviction']);
    admin.disconnect();
    await connection.close();
  });

  plain('of a writer looks for the master again when its server has become a replica', async () => {
    await using master = await startOwnRedis();
    await using server = await startOwnRedis();
    const admin = new Redis(server.address);
    const connection = connectRedis({ url: server.address, name: 'own', logger: quiet, role: 'writer' });
    await connection.whenReady();
    const stores = openStores(connection, createKeys('x:'));
    await admin.replicaof('127.0.0.1', master.port);
    const batch = {
      events: [anImpression({ at: now })],
      applied: { group: 'g', partition: 0, nextOffset: 2n, epoch: 1 },
    };
    expect(await stores.window.applyBatch(batch)).toMatchObject([{ kind: 'failed', retryable: true }]);
    await waitFor(() => connection.epoch() > 1, { what: 'the connection is made anew' });
    admin.disconnect();
    await connection.close();
  });

  plain('tells each kind of trouble once', async () => {
    await using server = await startOwnRedis();
    const warnings: object[] = [];
    const logger = { ...quiet, warn: (bindings: object) => warnings.push(bindings) };
    const connection = connectRedis({ url: server.address, name: 'own', logger, role: 'decision' });
    await connection.whenReady();
    await server.kill();
    await waitFor(() => warnings.length > 0, { what: 'the trouble is told' });
    await server.restart();
    await waitFor(() => connection.epoch() === 2, { what: 'the connection is back' });
    expect(warnings.length).toBeLessThanOrEqual(2);
    await connection.close();
  });

  plain('moves no offset past a device that could not be applied yet', async () => {
    await using server = await startOwnRedis();
    const admin = new Redis(server.address);
    const keys = createKeys('x:');
    const allowed = [`~x:{${deviceTag('tv-1')}}:*`, `~${keys.applied('g')}`];
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>secret', '+@all', ...allowed);
    const url = server.address.replace('//', '//app:secret@');
    const connection = connectRedis({ url, name: 'acl', logger: quiet, role: 'writer' });
    await connection.whenReady();
    const stores = openStores(connection, keys);
    const batch = {
      events: [anImpression({ at: now }), anImpression({ at: now, deviceId: 'tv-2' })],
      applied: { group: 'g', partition: 0, nextOffset: 2n, epoch: 1 },
    };
    expect(await stores.window.applyBatch(batch)).toMatchObject([
      { kind: 'new' },
      { kind: 'failed', retryable: true },
    ]);
    expect(await admin.exists(keys.applied('g'))).toBe(0);
    await admin.call('ACL', 'SETUSER', 'app', '~*');
    expect(await stores.window.applyBatch(batch)).toEqual([{ kind: 'repeat' }, { kind: 'new' }]);
    expect(await admin.hget(keys.applied('g'), '0')).toBe('2');
    admin.disconnect();
    await connection.close();
  });

  plain(
    'applies nothing half: what does not fit into memory moves no offset and is tried again',
    async () => {
      await using server = await startOwnRedis();
      const admin = new Redis(server.address);
      const connection = connect(server.address);
      await connection.whenReady();
      const stores = openStores(connection, createKeys('x:'));
      const batch = {
        events: [anImpression({ at: now }), anImpression({ at: now, deviceId: 'tv-2' })],
        applied: { group: 'g', partition: 0, nextOffset: 2n, epoch: 1 },
      };
      await admin.config('SET', 'maxmemory', '1');
      const failed = { kind: 'failed', retryable: true };
      expect(await stores.window.applyBatch(batch)).toMatchObject([failed, failed]);
      expect(await admin.keys('x:*')).toEqual([]);
      await admin.config('SET', 'maxmemory', '0');
      expect(await stores.window.applyBatch(batch)).toEqual([{ kind: 'new' }, { kind: 'new' }]);
      admin.disconnect();
      await connection.close();
    },
  );
});

test('a connection shows its name and role to the operator', async ({ stores, redis }) => {
  expect(stores.connection.isReady()).toBe(true);
  expect(await redis.client('LIST')).toContain('name=adcap:test:writer');
});
