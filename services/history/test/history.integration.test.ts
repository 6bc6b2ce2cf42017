import { topicName } from '@adcap/contracts';
import {
  anImpression,
  instantsIn,
  keysOf,
  messageOf,
  metricValue,
  publish,
  publishEvents,
  readDeadLetters,
  type Servers,
  startConsumer,
} from '@adcap/impression-consumer/testing';
import { loadConfig } from '@adcap/service-runtime';
import { startOwnRedis, test, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { configSchema } from '../src/config.ts';
import { historyConsumer } from '../src/history-consumer.ts';

const MINUTE_MS = 60_000;

const service = {
  consumer: historyConsumer,
  config: (env: Readonly<Record<string, string>>) => loadConfig(configSchema, env),
  portSetting: 'ADCAP_HISTORY_PORT',
};

const start = (servers: Servers) => startConsumer(service, servers);

const devices = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describe('the history consumer', () => {
  test('B50 reads what was published before it existed, and each impression once', async ({
    redis,
    redisUrl,
    kafkaBrokers,
    keyPrefix,
    topicPrefix,
    topics,
  }) => {
    const servers = { redisUrl, kafkaBrokers, keyPrefix, topicPrefix };
    expect(topics).toContain(topicName('impressions', topicPrefix));
    const now = Date.now();
    const events = devices('tv', 100).map((deviceId, index) =>
      anImpression({ deviceId, at: now - index * MINUTE_MS }),
    );
    // Every event twice, as a retry that had worked after all.
    await publishEvents(servers, [...events, ...events]);

    await using history = await start(servers);
    await waitFor(
      async () =>
        (await metricValue(history.registry, 'adcap_history_impressions_total', { result: 'repeat' })) >= 100,
      { what: 'both copies applied' },
    );

    for (const event of events) {
      expect(await instantsIn(redis, keysOf(servers, event.deviceId).history)).toEqual([event.at]);
    }
    expect(await metricValue(history.registry, 'adcap_history_impressions_total', { result: 'new' })).toBe(
      100,
    );
  });

  test('B01 keeps three impressions of one millisecond apart', async ({
    redis,
    redisUrl,
    kafkaBrokers,
    keyPrefix,
    topicPrefix,
    topics: _topics,
  }) => {
    const servers = { redisUrl, kafkaBrokers, keyPrefix, topicPrefix };
    const at = Date.now() - MINUTE_MS;
    const one = anImpression({ deviceId: 'tv-once', at });
    await using history = await start(servers);
    await publishEvents(servers, [
      ...[1, 2, 3].map(() => anImpression({ deviceId: 'tv-three', at })),
      one,
      one,
      one,
    ]);
    const holds = (deviceId: string, times: number) =>
      waitFor(async () => (await instantsIn(redis, keysOf(servers, deviceId).history)).length === times, {
        what: `${deviceId} holds ${times}`,
      });
    await holds('tv-three', 3);
    await holds('tv-once', 1);
    expect(history.failures).toEqual([]);
  });

  test('law 15: a Redis that is emptied while nobody watches is filled again, over the same connection', async ({
    ownClient,
    kafkaBrokers,
    keyPrefix,
    topicPrefix,
    topics: _topics,
  }) => {
    await using own = await startOwnRedis();
    const redis = ownClient(own.address);
    const servers = { redisUrl: own.address, kafkaBrokers, keyPrefix, topicPrefix };
    const events = devices('tv', 30).map((deviceId) => anImpression({ deviceId }));
    const areThere = (what: string) =>
      waitFor(
        async () => {
          const held = await Promise.all(
            events.map(({ deviceId }) => instantsIn(redis, keysOf(servers, deviceId).history)),
          );
          return held.every(([at], index) => at === events[index]?.at);
        },
        { what },
      );
    await using history = await start(servers);
    await publishEvents(servers, events);
    await areThere('every impression');
    await redis.flushall();
    await areThere('every impression again');
    expect(history.failures).toEqual([]);
  });

  test('B47 sets each message that is no impression aside once, and applies the others', async ({
    redis,
    redisUrl,
    kafkaBrokers,
    keyPrefix,
    topicPrefix,
    topics: _topics,
  }) => {
    const servers = { redisUrl, kafkaBrokers, keyPrefix, topicPrefix };
    const good = () => anImpression({ deviceId: 'tv' });
    const bad = [
      { key: 'tv', value: null },
      { key: 'tv', value: '' },
      { key: 'tv', value: 'not json' },
      { key: 'tv', value: '[]' },
      { key: 'tv', value: '{"v":99}' },
      { key: 'tv', value: JSON.stringify({ ...good(), at: 'noon' }) },
      { key: 'tv', value: Buffer.from([0xff, 0xfe, 0x22]) },
      { key: null, value: JSON.stringify(good()) },
      { key: 'tv', value: JSON.stringify({ ...good(), creativeId: 'x'.repeat(700_000) }) },
    ];
    await publish(
      servers,
      bad.flatMap((message) => [messageOf(good()), message]),
    );

    const lettersAre = async (count: number): Promise<string[]> => {
      const letters = await waitFor(
        async () => {
          const found = await readDeadLetters(servers);
          return found.length >= count ? found : undefined;
        },
        { what: `${count} dead letters` },
      );
      expect(letters).toHaveLength(count);
      return letters;
    };
    {
      await using history = await start(servers);
      const letters = await lettersAre(bad.length);
      expect(letters).toContain('not json');
      await waitFor(
        async () => (await instantsIn(redis, keysOf(servers, 'tv').history)).length === bad.length,
        { what: 'the good ones applied' },
      );
      expect(history.failures).toEqual([]);
    }
    // A restart does not come back to them.
    await using again = await start(servers);
    await publishEvents(servers, [anImpression({ deviceId: 'tv-after' })]);
    await waitFor(async () => (await instantsIn(redis, keysOf(servers, 'tv-after').history)).length === 1, {
      what: 'what came after the restart applied',
    });
    await lettersAre(bad.length);
    expect(await metricValue(again.registry, 'adcap_history_undecodable_total')).toBe(0);
  });
});
