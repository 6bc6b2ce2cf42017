import {
  anImpression,
  instantsIn,
  keysOf,
  lagOf,
  messageOf,
  metricValue,
  publish,
  publishEvents,
  readDeadLetters,
  type Servers,
  startConsumer,
} from '@adcap/impression-consumer/testing';
import { createKeys } from '@adcap/redis-windows';
import { loadConfig } from '@adcap/service-runtime';
import { test as base, startOwnRedis, waitFor } from '@adcap/testkit';
import { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { configSchema } from '../src/config.ts';
import { quotaConsumer } from '../src/quota-consumer.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const service = {
  consumer: quotaConsumer,
  config: (env: Readonly<Record<string, string>>) => loadConfig(configSchema, env),
  portSetting: 'ADCAP_QUOTA_PORT',
};

const start = (servers: Servers) => startConsumer(service, servers);

const test = base.extend<{ servers: Servers }>({
  servers: async ({ redisUrl, kafkaBrokers, keyPrefix, topicPrefix, topics: _topics }, use) =>
    use({ redisUrl, kafkaBrokers, keyPrefix, topicPrefix }),
});

const windowHolds = (redis: Redis, key: string, instants: readonly number[]) =>
  waitFor(
    async () =>
      JSON.stringify(await instantsIn(redis, key)) === JSON.stringify(instants.toSorted((a, b) => a - b)),
    { what: `${key} holds ${instants.length} impressions` },
  );

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('the quota consumer', () => {
  test('holds each impression once, by its own time, however late and often it comes', async ({
    redis,
    servers,
  }) => {
    const now = Date.now();
    const late = anImpression({ deviceId: 'tv', at: now - 20 * HOUR_MS, receivedAt: now });
    const recent = anImpression({ deviceId: 'tv', at: now - MINUTE_MS });
    const tooOld = anImpression({ deviceId: 'tv', at: now - 25 * HOUR_MS, receivedAt: now });
    await using quota = await start(servers);

    await publishEvents(servers, [recent, late, tooOld, recent, late]);

    const { window } = keysOf(servers, 'tv');
    await windowHolds(redis, window, [late.at, recent.at]);
    const count = (result: string) =>
      metricValue(quota.registry, 'adcap_quota_impressions_total', { result });
    await waitFor(async () => (await count('repeat')) >= 2, { what: 'both repeats seen' });
    expect(await count('new')).toBe(2);
    expect(await count('expired')).toBe(1);
    expect(await redis.pttl(window)).toBeGreaterThan(23 * HOUR_MS);
    await windowHolds(redis, window, [late.at, recent.at]);
  });

  test('a device that cannot be written is set aside and does not hold up its partition', async ({
    redis,
    servers,
  }) => {
    const broken = anImpression({ deviceId: 'tv-broken' });
    await redis.set(keysOf(servers, 'tv-broken').window, 'something else', 'PX', HOUR_MS);
    await using quota = await start(servers);
    const others = range(30).map((index) => anImpression({ deviceId: `tv-${index}` }));

    await publishEvents(servers, [...others.slice(0, 15), broken, ...others.slice(15)]);

    for (const other of others) await windowHolds(redis, keysOf(servers, other.deviceId).window, [other.at]);
    await waitFor(() => lagOf(quota) === 0, { what: 'lag 0' });
    const letters = await waitFor(
      async () => {
        const found = await readDeadLetters(servers);
        return found.length > 0 ? found : undefined;
      },
      { what: 'the dead letter' },
    );
    expect(letters.map((letter) => JSON.parse(letter).deviceId)).toEqual(['tv-broken']);
    expect(
      await metricValue(quota.registry, 'adcap_quota_dead_letters_total', { reason: 'store_refused' }),
    ).toBe(1);
  });

  test('goes on where it stopped after a restart', async ({ redis, servers }) => {
    const first = range(20).map((index) => anImpression({ deviceId: `tv-${index}` }));
    {
      await using quota = await start(servers);
      await publishEvents(servers, first);
      for (const event of first) await windowHolds(redis, keysOf(servers, event.deviceId).window, [event.at]);
      expect(quota.failures).toEqual([]);
    }
    const second = range(20).map((index) => anImpression({ deviceId: `tv-${index}` }));
    await publishEvents(servers, second);

    await using again = await start(servers);

    for (const index of range(20)) {
      const { window } = keysOf(servers, `tv-${index}`);
      await windowHolds(redis, window, [first[index]?.at ?? 0, second[index]?.at ?? 0]);
    }
    const results = await again.registry.getSingleMetric('adcap_quota_impressions_total')?.get();
    expect(results?.values.map(({ labels, value }) => [labels['result'], value])).toEqual([['new', 20]]);
  });

  test.for<[string, (redis: Redis) => Promise<unknown>]>([
    // As after a failover to an empty replica: the data and the applied offsets are gone, the connections break.
    [
      'with its connections',
      async (redis) => {
        await redis.flushall();
        await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      },
    ],
    ['under connections that hold', (redis) => redis.flushall()],
  ])(
    'law 15: a Redis that lost everything %s is filled again without new traffic',
    async ([, lose], { servers }) => {
      await using own = await startOwnRedis();
      const redis = new Redis(own.address);
      const there = { ...servers, redisUrl: own.address };
      const events = range(50).map((index) => anImpression({ deviceId: `tv-${index}` }));
      await using quota = await start(there);
      await publishEvents(there, events);
      for (const event of events) await windowHolds(redis, keysOf(there, event.deviceId).window, [event.at]);
      await waitFor(() => lagOf(quota) === 0, { what: 'lag 0' });

      await lose(redis);

      for (const event of events) await windowHolds(redis, keysOf(there, event.deviceId).window, [event.at]);
      expect(quota.failures).toEqual([]);
      redis.disconnect();
    },
  );

  test('law 15: a Redis put back to an older copy by hand, under traffic and a connection that holds, loses nothing', async ({
    servers,
  }) => {
    await using own = await startOwnRedis();
    const redis = new Redis(own.address);
    const there = { ...servers, redisUrl: own.address };
    const event = (index: number) => anImpression({ deviceId: `tv-${index % 20}` });
    const events = range(40).map(event);
    await using quota = await start(there);
    await publishEvents(there, events);
    await waitFor(() => lagOf(quota) === 0, { what: 'lag 0' });
    const copy = await Promise.all(
      (await redis.keys('*')).map(async (key) => ({ key, dump: await redis.dumpBuffer(key) })),
    );
    const later = range(40).map(event);
    await publishEvents(there, later);
    await waitFor(() => lagOf(quota) === 0, { what: 'lag 0 again' });

    const restore = redis.multi().flushall();
    for (const { key, dump } of copy) if (dump !== null) restore.restore(key, 0, dump);
    await restore.exec();
    const last = range(20).map(event);
    await publishEvents(there, last);

    const all = [...events, ...later, ...last];
    for (const deviceId of new Set(all.map((one) => one.deviceId))) {
      const instants = all.filter((one) => one.deviceId === deviceId).map(({ at }) => at);
      await windowHolds(redis, keysOf(there, deviceId).window, instants);
    }
    redis.disconnect();
  });

  test('tells up to when it has applied each partition, though nobody watches', async ({
    redis,
    servers,
  }) => {
    await using quota = await start(servers);
    const applied = createKeys(servers.keyPrefix).applied(`${servers.topicPrefix}quota`);
    const asOf = async (partition: number) => Number(await redis.hget(applied, `${partition}:at`));
    await waitFor(async () => (await redis.hget(applied, 'partitions')) === '3', { what: 'a heartbeat' });
    const first = await waitFor(async () => (await asOf(2)) || undefined, { what: 'the first instant' });
    await waitFor(async () => (await asOf(2)) > first, { what: 'a later instant' });
    expect(quota.failures).toEqual([]);
  });

  test('refuses a Redis that may evict what it counts', async ({ servers }) => {
    await using own = await startOwnRedis();
    const redis = new Redis(own.address);
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await using quota = await start({ ...servers, redisUrl: own.address });
    await waitFor(() => quota.failures.length > 0, { what: 'the refusal' });
    expect(String(quota.failures[0])).toContain('noeviction');
    redis.disconnect();
  });

  test('tells lag, liveness and the version of its rules over HTTP', async ({ servers }) => {
    await using quota = await start(servers);
    await waitFor(async () => (await fetch(`${quota.address}/readyz`)).status === 200, { what: 'ready' });
    await publishEvents(servers, [anImpression({ deviceId: 'tv' })]);
    await waitFor(() => lagOf(quota) === 0, { what: 'lag 0' });

    const ready: unknown = await (await fetch(`${quota.address}/readyz`)).json();
    expect(ready).toMatchObject({
      checks: { rules: { ok: false, detail: 'no rules yet' }, redis: { ok: true } },
    });
    expect((await fetch(`${quota.address}/livez`)).status).toBe(200);
    const metrics = await (await fetch(`${quota.address}/metrics`)).text();
    expect(metrics).toMatch(/adcap_quota_lag_messages\{partition="0"\} 0/);
    expect(metrics).toMatch(/adcap_quota_lag_seconds\{partition="0"\} 0/);
    expect(metrics).toContain('adcap_quota_newest_applied_age_seconds ');
    expect((await fetch(`${quota.address}/openapi.json`)).status).toBe(200);
    expect((await fetch(`${quota.address}/documentation`)).status).toBe(200);
  });

  test('B04 B50 two instances that start after 300 impressions count each once between them', async ({
    redis,
    servers,
  }) => {
    const at = Date.now() - MINUTE_MS;
    const events = range(300).map((index) => anImpression({ deviceId: `tv-${index % 10}`, at: at + index }));
    await publishEvents(servers, [...events, ...events.toReversed()]);

    await using first = await start(servers);
    await using second = await start(servers);

    for (const device of range(10)) {
      const own = range(30).map((round) => at + device + 10 * round);
      await windowHolds(redis, keysOf(servers, `tv-${device}`).window, own);
    }
    const count = async (result: string) => {
      const each = [first, second].map(({ registry }) =>
        metricValue(registry, 'adcap_quota_impressions_total', { result }),
      );
      const [one = 0, other = 0] = await Promise.all(each);
      return one + other;
    };
    await waitFor(async () => (await count('repeat')) >= 300, { what: 'every repeat seen' });
    expect(await count('new')).toBe(300);

    const haveBoth = (): boolean => first.consumer.progress().size > 0 && second.consumer.progress().size > 0;
    await waitFor(haveBoth, { what: 'both have partitions' });
    const more = events.map(({ deviceId }, index) => anImpression({ deviceId, at: at + 1_000 + index }));
    await Promise.all([publishEvents(servers, more), publishEvents(servers, more)]);
    await waitFor(async () => (await count('new')) === 600, { what: 'every new one counted' });
    await waitFor(async () => (await count('repeat')) >= 600, { what: 'every repeat seen again' });
    for (const device of range(10))
      expect(await instantsIn(redis, keysOf(servers, `tv-${device}`).window)).toHaveLength(60);
  });

  test('what is no impression is only counted: the history consumer sets it aside', async ({
    redis,
    servers,
  }) => {
    const event = anImpression({ deviceId: 'tv' });
    await publish(servers, [
      { key: 'tv', value: null },
      { key: 'tv', value: 'not json' },
      { key: 'tv', value: JSON.stringify({ ...event, at: 'noon' }) },
      messageOf(event),
    ]);
    await using quota = await start(servers);
    await windowHolds(redis, keysOf(servers, 'tv').window, [event.at]);
    await waitFor(() => lagOf(quota) === 0, { what: 'lag 0' });
    for (const reason of ['no_value', 'not_json', 'wrong_fields'])
      expect(await metricValue(quota.registry, 'adcap_quota_undecodable_total', { reason })).toBe(1);
    expect(await readDeadLetters(servers)).toEqual([]);
  });
});
