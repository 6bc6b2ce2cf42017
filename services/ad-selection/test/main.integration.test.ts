import { fileURLToPath } from 'node:url';
import { CURRENT_RULES_KEY, rulesVersionKey, topicName } from '@adcap/contracts';
import { healthOf, type Servers, settingsFor, startProcess } from '@adcap/impression-consumer/testing';
import { createProducer, followCompactedTopic } from '@adcap/kafka-bus';
import { connectRedis, createKeys, createRulesCache } from '@adcap/redis-windows';
import { createLogger } from '@adcap/service-runtime';
import { startOwnRedis, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';
import { sayApplied } from './say-applied.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const logger = createLogger({ name: 'test', level: 'silent' });

const settings = (servers: Servers, more: Record<string, string> = {}) => ({
  ...settingsFor(servers, 'ADCAP_AD_SELECTION_PORT'),
  ADCAP_RESERVATION_KEYS: 'k1:a secret for the tests',
  ADCAP_AD_SELECTION_DEADLINE_MS: '5000',
  ...more,
});

/** Leaves a rule set in Redis as the rules service does, and an instant as a consumer does. */
const putRules = async ({ redisUrl, keyPrefix, topicPrefix }: Servers): Promise<void> => {
  const connection = connectRedis({ url: redisUrl, name: 'test', logger, role: 'writer' });
  await connection.whenReady();
  const rules = [{ id: 'hourly', dimension: 'creative', limit: { max: 1, window: '60m' } }];
  const record = { schema: 1, version: 4, dimensions: {}, rules, publishedAt: 1 };
  await createRulesCache(connection, createKeys(keyPrefix)).compareAndSet(null, 4, JSON.stringify(record));
  await sayApplied(connection, { keyPrefix, group: `${topicPrefix}history`, asOf: [Date.now()] });
  await connection.close();
};

const select = async (address: string, candidates: readonly string[]) => {
  const response = await fetch(new URL('/v1/selections', address), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      deviceId: 'd1',
      breakId: 'b1',
      breakAt: Date.now(),
      slots: 2,
      candidates: candidates.map((creativeId) => ({ creativeId })),
    }),
  });
  return { status: response.status, body: await response.json() };
};

describe('the process', () => {
  test('B45 decides with Kafka away from its first request on, by the rules in Redis; exits 0 on SIGTERM', async ({
    redisUrl,
    keyPrefix,
  }) => {
    const servers = { redisUrl, keyPrefix, kafkaBrokers: '127.0.0.1:1', topicPrefix: 'x.' };
    await putRules(servers);
    const service = await startProcess(MAIN, settings(servers));
    expect(await select(service.address, ['c1', 'c1'])).toMatchObject({
      status: 200,
      body: { source: 'quotas', degraded: false, reserved: true, rulesVersion: 4, unfilled: 1 },
    });
    service.kill('SIGTERM');
    expect(await service.exited).toMatchObject({ code: 0 });
  });

  test('starts with Redis away and answers open', async () => {
    const servers = {
      redisUrl: 'redis://127.0.0.1:1',
      keyPrefix: 'x:',
      kafkaBrokers: '127.0.0.1:1',
      topicPrefix: 'x.',
    };
    const service = await startProcess(MAIN, settings(servers));
    expect(await select(service.address, ['c1'])).toMatchObject({
      status: 200,
      body: { source: 'open', degraded: true, degradedReason: 'no_rules', pod: [{ creativeId: 'c1' }] },
    });
    const ready = await healthOf(service.address, '/readyz');
    expect(ready).toMatchObject({
      status: 200,
      body: { checks: { redis: { ok: false }, rules: { ok: false } } },
    });
    service.kill('SIGTERM');
    expect(await service.exited).toMatchObject({ code: 0 });
  });

  test('refuses to start over a Redis that may evict counters', async ({ redis: shared }) => {
    await using redis = await startOwnRedis();
    const { hostname, port } = new URL(redis.address);
    const client = shared.duplicate({ host: hostname, port: Number(port) });
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    client.disconnect();
    const servers = {
      redisUrl: redis.address,
      keyPrefix: 'x:',
      kafkaBrokers: '127.0.0.1:1',
      topicPrefix: 'x.',
    };
    await expect(startProcess(MAIN, settings(servers))).rejects.toThrow('noeviction');
  });

  test('notes each decision on the decisions topic', async ({
    redisUrl,
    keyPrefix,
    kafkaBrokers,
    topicPrefix,
    topics: _topics,
  }) => {
    const servers = { redisUrl, keyPrefix, kafkaBrokers, topicPrefix };
    await putRules(servers);
    const service = await startProcess(MAIN, settings(servers));
    await select(service.address, ['c1', 'c1']);
    const records: unknown[] = [];
    const follower = followCompactedTopic({
      bus: { brokers: [kafkaBrokers], clientId: 'test', logger },
      topic: topicName('decisions', topicPrefix),
      onRecord: (key, value) => void records.push({ key, value: JSON.parse(value?.toString() ?? 'null') }),
    });
    await waitFor(() => records.length > 0, { what: 'a decision record' });
    await follower.close();
    expect(records).toMatchObject([
      {
        key: 'd1',
        value: {
          type: 'DECISION',
          source: 'quotas',
          asOf: expect.any(Number),
          slots: 2,
          unfilled: 1,
          emptySlots: [{ slot: 2, reasons: [{ reason: 'podCapped', ruleId: 'hourly', candidates: 1 }] }],
          placed: [{ slot: 1, creativeId: 'c1' }],
          blocked: [{ creativeId: 'c1', outcome: 'podCapped', ruleId: 'hourly' }],
        },
      },
    ]);
    service.kill('SIGTERM');
    expect(await service.exited).toMatchObject({ code: 0 });
  });

  test('reports a device under the rules of an instant that the topic remembers', async ({
    redisUrl,
    keyPrefix,
    kafkaBrokers,
    topicPrefix,
    topics: _topics,
  }) => {
    const now = Date.now();
    const topic = topicName('rules', topicPrefix);
    const producer = createProducer({
      bus: { brokers: [kafkaBrokers], clientId: 'test', logger },
      topics: [topic],
    });
    const version = (number: number, publishedAt: number) =>
      JSON.stringify({ schema: 1, version: number, dimensions: {}, rules: [], publishedAt });
    await producer.send(topic, [
      { key: rulesVersionKey(3), value: version(3, now - 7_200_000) },
      { key: CURRENT_RULES_KEY, value: version(4, now - 3_600_000) },
    ]);
    await producer.close();
    const token = 'operator-token-for-tests';
    const servers = { redisUrl, keyPrefix, kafkaBrokers, topicPrefix };
    const service = await startProcess(MAIN, settings(servers, { ADCAP_TOKEN_OPERATOR: token }));
    const url = new URL(`/v1/devices/d1?at=${now - 5_400_000}`, service.address);
    const report = await waitFor(
      async () => {
        const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
        const body: unknown = await response.json();
        expect(body).toMatchObject({ rulesVersion: expect.any(Number) });
        return body;
      },
      { what: 'the rules of the topic' },
    );
    expect(report).toMatchObject({ rulesVersion: 3, rulesInForce: true });
    service.kill('SIGTERM');
    expect(await service.exited).toMatchObject({ code: 0 });
  });
});
