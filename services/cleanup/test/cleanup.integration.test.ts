import { epochMs, type ImpressionEvent } from '@adcap/contracts';
import {
  anImpression,
  instantsIn,
  keysOf,
  lagOf,
  metricValue,
  publish,
  publishEvents,
  readDeadLetters,
  type Servers,
  startConsumer,
} from '@adcap/impression-consumer/testing';
import {
  connectRedis,
  createAppliedOffsets,
  createCleaner,
  createHistoryWriter,
  createKeys,
  createWindowWriter,
} from '@adcap/redis-windows';
import { loadConfig } from '@adcap/service-runtime';
import { test as base, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { cleanupConsumer } from '../src/cleanup-consumer.ts';
import { configSchema } from '../src/config.ts';
import { createTrimMemory } from '../src/domain/trim-memory.ts';
import { createCleanupHandler } from '../src/handlers/create-cleanup-handler.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const service = {
  consumer: cleanupConsumer,
  config: (env: Readonly<Record<string, string>>) => loadConfig(configSchema, env),
  portSetting: 'ADCAP_CLEANUP_PORT',
};

const start = (servers: Servers, env: Readonly<Record<string, string>> = {}) =>
  startConsumer(service, servers, { ADCAP_CLEANUP_SCAN_INTERVAL_MS: '3600000', ...env });

/** What the other two consumers leave, under a retention of their own. */
const openWriters = async ({ redisUrl, keyPrefix }: Servers, retentionMs: number) => {
  const quiet = { info: () => undefined, warn: () => undefined };
  const connection = connectRedis({ url: redisUrl, name: 'test', logger: quiet, role: 'writer' });
  await connection.whenReady();
  const settings = { keys: createKeys(keyPrefix), retentionMs, graceMs: 0 };
  const writers = [createWindowWriter(connection, settings), createHistoryWriter(connection, settings)];
  return {
    connection,
    settings,
    write: async (events: readonly ImpressionEvent[]): Promise<void> => {
      const applied = { group: 'test', partition: 0, nextOffset: 1n, epoch: connection.epoch() };
      for (const writer of writers) await writer.applyBatch({ events, applied });
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
};

const test = base.extend<{ servers: Servers }>({
  servers: async ({ redisUrl, kafkaBrokers, keyPrefix, topicPrefix, topics: _topics }, use) =>
    use({ redisUrl, kafkaBrokers, keyPrefix, topicPrefix }),
});

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('the cleanup consumer', () => {
  test('B02 drops what is older than the retention as soon as the device watches again', async ({
    redis,
    servers,
  }) => {
    const now = Date.now();
    await using writers = await openWriters(servers, 10 * DAY_MS);
    const days = range(3 * 24).map((hour) => anImpression({ deviceId: 'tv', at: now - hour * HOUR_MS }));
    await writers.write(days);
    await writers.write([anImpression({ deviceId: 'tv-asleep', at: now - 5 * DAY_MS })]);
    await using cleanup = await start(servers, { ADCAP_RESERVATION_GRACE_MS: '0' });

    await publishEvents(servers, [anImpression({ deviceId: 'tv' })]);

    const { window, history } = keysOf(servers, 'tv');
    await waitFor(async () => (await redis.zcard(window)) < 2 * days.length, { what: 'trimmed' });
    const kept = days.filter(({ at }) => at >= now - DAY_MS + MINUTE_MS).map(({ at }) => at);
    for (const key of [window, history]) {
      expect(await instantsIn(redis, key)).toEqual(kept.toSorted((a, b) => a - b));
      // Guards go by the hour.
      expect(await redis.zcard(key)).toBeLessThanOrEqual(2 * kept.length + 1);
      expect(await redis.pttl(key)).toBeGreaterThan(0);
    }
    const freed = (kind: string) => metricValue(cleanup.registry, 'adcap_cleanup_freed_total', { kind });
    await waitFor(async () => (await freed('window')) === days.length - kept.length, { what: 'counted' });
    expect(await freed('history')).toBe(days.length - kept.length);
    expect(await redis.zcard(keysOf(servers, 'tv-asleep').window)).toBe(2);
  });

  test('B02 the sets of a device that watches every 50 minutes for 3 days stop growing after a day', async ({
    redis,
    servers,
  }) => {
    await using writers = await openWriters(servers, DAY_MS);
    const { connection, settings } = writers;
    let nowMs = Date.now();
    const handler = createCleanupHandler({
      cleaner: createCleaner(connection, settings),
      offsets: createAppliedOffsets(connection, settings.keys, 'g'),
      memory: createTrimMemory({ intervalMs: MINUTE_MS }),
      clock: { nowMs: () => epochMs(nowMs) },
      logger: { warn: () => undefined },
      metrics: { noteResults: () => undefined, noteApplied: () => undefined },
      cleanupMetrics: { noteFreed: () => undefined, noteTrims: () => undefined },
    });
    const sizes: number[] = [];
    const { window, history } = keysOf(servers, 'tv');
    for (const step of range(Math.floor((3 * DAY_MS) / (50 * MINUTE_MS)))) {
      nowMs += 50 * MINUTE_MS;
      const event = anImpression({ deviceId: 'tv', at: nowMs });
      await writers.write([event]);
      await handler.applyBatch({
        topic: 'impressions',
        partition: 0,
        events: [{ offset: BigInt(step), timestampMs: nowMs, event }],
        fromOffset: BigInt(step),
        nextOffset: BigInt(step + 1),
        epoch: connection.epoch(),
      });
      sizes.push(await redis.zcard(window));
      expect(await redis.zcard(history)).toBe(sizes.at(-1));
    }
    const aDay = Math.floor(DAY_MS / (50 * MINUTE_MS)) + 1;
    expect(sizes[aDay - 1]).toBe(2 * aDay);
    // Guards go by the hour: at most two of them stay for an hour longer than their records.
    expect(Math.max(...sizes.slice(aDay))).toBeLessThanOrEqual(2 * aDay + 2);
    expect(await instantsIn(redis, window)).toHaveLength(aDay);
  });

  test('keeps the newest 2,048 impressions of a device that floods', async ({ redis, servers }) => {
    const now = Date.now();
    await using writers = await openWriters(servers, DAY_MS);
    await writers.write(range(3_000).map((index) => anImpression({ deviceId: 'tv', at: now - index })));
    await using cleanup = await start(servers);
    await publishEvents(servers, [anImpression({ deviceId: 'tv' })]);
    const { window, history } = keysOf(servers, 'tv');
    await waitFor(async () => (await redis.zcard(history)) === 2 * 2_048, { what: 'the history is bounded' });
    expect(await redis.zcard(window)).toBe(2 * 2_048);
    expect((await instantsIn(redis, window))[0]).toBe(now - 2_047);
    expect(cleanup.failures).toEqual([]);
  });

  test('what cannot be read or trimmed is only counted, and does not hold up its partition', async ({
    redis,
    servers,
  }) => {
    await redis.set(keysOf(servers, 'tv-broken').window, 'something else', 'PX', HOUR_MS);
    await using cleanup = await start(servers);
    await publish(servers, [
      { key: 'tv', value: 'not json' },
      { key: 'tv', value: null },
    ]);
    await publishEvents(servers, [
      anImpression({ deviceId: 'tv-broken' }),
      ...range(20).map((index) => anImpression({ deviceId: `tv-${index}` })),
    ]);
    const count = (result: string) =>
      metricValue(cleanup.registry, 'adcap_cleanup_impressions_total', { result });
    await waitFor(async () => (await count('trimmed')) === 20, { what: 'the others trimmed' });
    await waitFor(async () => (await count('refused')) === 1, { what: 'the broken one dropped' });
    await waitFor(() => lagOf(cleanup) === 0, { what: 'lag 0' });
    expect(
      await metricValue(cleanup.registry, 'adcap_cleanup_undecodable_total', { reason: 'no_value' }),
    ).toBe(1);
    expect(await readDeadLetters(servers)).toEqual([]);
  });

  test('law 15: it keeps its own applied offsets, and reads again when they are lost', async ({
    redis,
    servers,
  }) => {
    const group = `${servers.topicPrefix}cleanup`;
    const applied = createKeys(servers.keyPrefix).applied(group);
    const events = range(30).map((index) => anImpression({ deviceId: `tv-${index}` }));
    const total = async () =>
      Object.entries(await redis.hgetall(applied))
        .filter(([field]) => /^\d+$/.test(field))
        .reduce((sum, [, offset]) => sum + Number(offset), 0);
    {
      await using cleanup = await start(servers);
      await publishEvents(servers, events);
      await waitFor(async () => (await total()) >= 30, { what: 'the applied offsets' });
      expect(cleanup.failures).toEqual([]);
    }
    await redis.del(applied);
    await using again = await start(servers);
    await waitFor(async () => (await total()) >= 30, { what: 'the applied offsets again' });
    expect(again.failures).toEqual([]);
  });

  test('B09 gives a TTL to keys that have none, a few at a time, though nobody watches', async ({
    redis,
    servers,
  }) => {
    const strays = range(40).map((index) => keysOf(servers, `tv-${index}`).window);
    for (const key of strays) await redis.zadd(key, Date.now(), 'x');
    await using cleanup = await start(servers, {
      ADCAP_CLEANUP_SCAN_INTERVAL_MS: '5',
      ADCAP_CLEANUP_SCAN_KEYS: '10',
    });
    await waitFor(
      async () => (await Promise.all(strays.map((key) => redis.pttl(key)))).every((ttl) => ttl > DAY_MS),
      { what: 'every stray has a TTL' },
    );
    const value = (name: string) => metricValue(cleanup.registry, `adcap_cleanup_${name}_total`);
    await waitFor(async () => (await value('scan_rounds')) >= 2, { what: 'two rounds' });
    expect(await value('mended_keys')).toBe(40);
    expect(await value('scan_failures')).toBe(0);
  });
});
