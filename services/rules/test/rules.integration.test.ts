import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { topicName } from '@adcap/contracts';
import { createMissingTopics, createProducer } from '@adcap/kafka-bus';
import { connectRedis, createKeys, createRulesCache } from '@adcap/redis-windows';
import { createRulesFeed } from '@adcap/rules-feed';
import { test as base, freePort, startOwnKafka, startOwnRedis, waitFor } from '@adcap/testkit';
import { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import {
  capRule,
  get,
  logger,
  put,
  readRulesTopic,
  type Servers,
  startRulesService,
} from './start-rules-service.ts';

const test = base.extend<{ servers: Servers; rulesFile: (text: string) => Promise<string> }>({
  servers: async ({ redisUrl, kafkaBrokers, keyPrefix, topicPrefix, topics: _topics }, use) =>
    use({ redisUrl, kafkaBrokers, keyPrefix, topicPrefix }),
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the fixture's dependencies from this pattern
  rulesFile: async ({}, use) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'adcap-rules-'));
    await use(async (text) => {
      const file = path.join(folder, 'rules.yaml');
      await writeFile(file, text);
      return file;
    });
    await rm(folder, { recursive: true });
  },
});

const SAMPLE = path.resolve(import.meta.dirname, '../../../infra/rules/sample.yaml');

const publishRaw = async (servers: Servers, value: string, key = 'current'): Promise<void> => {
  const topic = topicName('rules', servers.topicPrefix);
  const producer = createProducer({
    bus: { brokers: [servers.kafkaBrokers], clientId: 'test', logger },
    topics: [topic],
    timeoutMs: 20_000,
  });
  await producer.send(topic, [{ key, value }]);
  await producer.close();
};

const recordOf = (version: number, rules: unknown[] = []) =>
  JSON.stringify({ schema: 1, version, dimensions: {}, rules, publishedAt: Date.now() });

describe('the start', () => {
  test('seeds an empty installation with the file as version 1, in Redis and on the topic', async ({
    servers,
  }) => {
    await using service = await startRulesService(servers, { ADCAP_RULES_FILE: SAMPLE });
    await service.whenUp();
    const { status, headers, body } = await get(service);
    expect(status).toBe(200);
    expect(headers.get('etag')).toBe('"1"');
    expect(body.version).toBe(1);
    expect(body.rules?.map(({ id }) => id)).toContain('sponsor-free');
    const topic = await waitFor(
      async () => {
        const records = await readRulesTopic(servers);
        return records.has('v1') ? records : undefined;
      },
      { what: 'version 1 on the topic' },
    );
    expect(topic.get('current')).toEqual(topic.get('v1'));
  });

  test('does not apply the file where there are rules already', async ({ servers }) => {
    await publishRaw(servers, recordOf(7, [capRule('kept', 4)]));
    await using service = await startRulesService(servers, { ADCAP_RULES_FILE: SAMPLE });
    await service.whenUp();
    const { body } = await get(service);
    expect(body).toMatchObject({ version: 7, rules: [{ id: 'kept' }] });
  });

  test('a wrong file fails the start and names rule and field', async ({ servers, rulesFile }) => {
    const file = await rulesFile(
      'rules:\n  - id: c1\n    dimension: creative\n    limit: { max: 0, window: 60m }\n',
    );
    await expect(startRulesService(servers, { ADCAP_RULES_FILE: file })).rejects.toThrow(
      /rule c1, limit\.max: must be at least 1/,
    );
  });

  test('a Redis that lost the rules gets them back from the topic, and one that is ahead is published', async ({
    servers,
    redis,
  }) => {
    await using service = await startRulesService(servers);
    await service.whenUp();
    expect((await put(service, '"1"', { rules: [capRule('c1', 2)] })).status).toBe(200);
    const { rules: key } = createKeys(servers.keyPrefix);

    await redis.del(key);
    await waitFor(async () => (await redis.hget(key, 'version')) === '2', { what: 'Redis restored' });

    // As a crash between the two steps of a change leaves it.
    await redis.hset(key, 'version', '3', 'json', recordOf(3, [capRule('c1', 5)]));
    await waitFor(async () => (await readRulesTopic(servers)).get('current')?.version === 3, {
      what: 'version 3 published',
    });
    expect((await readRulesTopic(servers)).get('v3')).toMatchObject({ version: 3 });
  });
});

describe('PUT /v1/rules', () => {
  test('B14 refuses wrong caps whole, names rule and field, and keeps the rules in force', async ({
    servers,
  }) => {
    await using service = await startRulesService(servers);
    await service.whenUp();
    const good = [
      capRule('hourly', 2, { window: '60m', value: 'c1' }),
      capRule('daily', 4, { window: '24h', value: 'c1' }),
    ];
    expect((await put(service, '"1"', { rules: good })).status).toBe(200);

    for (const max of [0, -1, 1.5, '3', null, undefined]) {
      const refused = await put(service, '"2"', {
        rules: [...good, capRule('bad', max, { window: '60m', value: 'c2' })],
      });
      expect([max, refused.status]).toEqual([max, 400]);
      expect(refused.body.code).toBe('ADCAP_RULES_INVALID');
      expect(refused.body.errors).toMatchObject([{ ruleId: 'bad', field: 'limit.max' }]);
    }
    const twice = await put(service, '"2"', {
      rules: [...good, capRule('hourly', 9, { window: '10m', value: 'c3' })],
    });
    expect(twice.body.errors).toMatchObject([{ ruleId: 'hourly', field: 'id' }]);

    const { body } = await get(service);
    expect(body).toEqual({ version: 2, dimensions: {}, rules: good });
    expect(
      (await put(service, '"2"', { rules: [...good, capRule('huge', 1e9, { window: '60m', value: 'c2' })] }))
        .status,
    ).toBe(200);
  });

  test('needs If-Match, refuses a stale one, and takes what GET has answered', async ({ servers }) => {
    await using service = await startRulesService(servers);
    await service.whenUp();
    const first = await get(service);
    const without = await service.call('PUT', '/v1/rules', { token: 'an-editor', body: { rules: [] } });
    expect([without.status, without.body.code]).toEqual([428, 'ADCAP_RULES_IF_MATCH_MISSING']);

    const changed = await put(service, first.headers.get('etag') ?? '', first.body);
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).toBe('"2"');

    for (const stale of ['"1"', '"3"', 'W/"2"', '"two"']) {
      const refused = await put(service, stale, { rules: [capRule('c1', 1)] });
      expect([stale, refused.status, refused.body.code]).toEqual([stale, 412, 'ADCAP_RULES_STALE']);
    }
    expect((await get(service)).body.version).toBe(2);
  });

  test('refuses a set that is larger than a message may be', async ({ servers }) => {
    await using service = await startRulesService(servers, { ADCAP_RULES_MAX_BYTES: '2000' });
    await service.whenUp();
    const rules = Array.from({ length: 30 }, (_, index) => capRule(`c${index}`, 1));
    const refused = await put(service, '"1"', { rules });
    expect([refused.status, refused.body.code]).toEqual([413, 'ADCAP_RULES_TOO_LARGE']);
    expect((await get(service)).body.version).toBe(1);
  });

  test('undoes a change that the topic itself refuses as too large', async ({
    redisUrl,
    kafkaBrokers,
    keyPrefix,
    topicPrefix,
  }) => {
    const servers = { redisUrl, kafkaBrokers, keyPrefix, topicPrefix };
    const config = { 'cleanup.policy': 'compact', 'max.message.bytes': '4000' };
    await createMissingTopics(
      [kafkaBrokers],
      [{ topic: topicName('rules', topicPrefix), partitions: 1, config }],
      1,
    );
    await using service = await startRulesService(servers);
    await service.whenUp();
    const good = [capRule('c1', 2)];
    await put(service, '"1"', { rules: good });

    const rules = Array.from({ length: 100 }, (_, index) => capRule(`c${index}`, 1));
    const refused = await put(service, '"2"', { rules });

    expect([refused.status, refused.body.code]).toEqual([413, 'ADCAP_RULES_TOO_LARGE']);
    expect((await get(service)).body).toEqual({ version: 4, dimensions: {}, rules: good });
    expect((await readRulesTopic(servers)).get('current')).toMatchObject({ version: 4, rules: good });
  });

  test('publishes a set of several megabytes', async ({ servers }) => {
    await using service = await startRulesService(servers);
    await service.whenUp();
    const note = 'n'.repeat(900);
    const rules = Array.from({ length: 3_000 }, (_, index) => ({ ...capRule(`c${index}`, 1), note }));
    expect((await put(service, '"1"', { rules })).status).toBe(200);
    expect((await readRulesTopic(servers)).get('current')).toMatchObject({ version: 2 });
  });

  test('of two instances that change at the same time none loses a change', async ({ servers }) => {
    await using one = await startRulesService(servers);
    await using other = await startRulesService(servers);
    await Promise.all([one.whenUp(), other.whenUp()]);

    const addRule = async (service: typeof one, id: string): Promise<void> => {
      for (;;) {
        const { headers, body } = await get(service);
        const answer = await put(service, headers.get('etag') ?? '', {
          ...body,
          rules: [...(body.rules ?? []), capRule(id, 3)],
        });
        if (answer.status === 200) return;
        expect(answer.status).toBe(412);
      }
    };
    const ids = Array.from({ length: 12 }, (_, index) => `c${index}`);
    await Promise.all(ids.map((id, index) => addRule(index % 2 === 0 ? one : other, id)));

    const { body } = await get(one);
    expect(body.rules?.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(body.version).toBe(13);
    await waitFor(async () => (await readRulesTopic(servers)).get('current')?.version === 13, {
      what: 'the last version is the one that a new service reads',
    });
    const topic = await readRulesTopic(servers);
    expect([...topic.keys()].toSorted()).toEqual(
      ['current', ...Array.from({ length: 13 }, (_, index) => `v${index + 1}`)].toSorted(),
    );
  });

  test('keeps the last 100 versions on the topic', async ({ servers }) => {
    await publishRaw(servers, recordOf(2), 'v2');
    await publishRaw(servers, recordOf(3), 'v3');
    await publishRaw(servers, recordOf(100));
    await using service = await startRulesService(servers);
    await service.whenUp();
    await put(service, '"100"', { rules: [] });
    await put(service, '"101"', { rules: [] });
    expect((await get(service)).body.version).toBe(102);
    const topic = await readRulesTopic(servers);
    expect(topic.has('v102')).toBe(true);
    expect([topic.has('v2'), topic.has('v3')]).toEqual([false, true]);
  });

  test('reaches whoever follows the rules within 2 s', async ({ servers }) => {
    await using service = await startRulesService(servers);
    await service.whenUp();
    const redis = connectRedis({ url: servers.redisUrl, name: 'test', logger, role: 'decision' });
    const feed = createRulesFeed({
      bus: { brokers: [servers.kafkaBrokers], clientId: 'test', logger },
      topic: topicName('rules', servers.topicPrefix),
      cache: createRulesCache(redis, createKeys(servers.keyPrefix)),
      retentionMs: 86_400_000,
    });
    await waitFor(() => feed.isLive() && feed.version() === 1, { what: 'the feed follows' });

    const changed = Date.now();
    await put(service, '"1"', { rules: [capRule('c1', 2, { window: '10m' })] });
    await waitFor(() => feed.version() === 2, { what: 'the feed has version 2', timeoutMs: 2_000 });

    expect(Date.now() - changed).toBeLessThan(2_000);
    expect(feed.current()?.longestWindowMs).toBe(600_000);
    await feed.close();
    await redis.close();
  });
});

describe('POST /v1/rules/validate', () => {
  test('tells errors and warnings and changes nothing', async ({ servers }) => {
    await using service = await startRulesService(servers);
    await service.whenUp();
    const validate = (body: unknown) =>
      service.call('POST', '/v1/rules/validate', { token: 'a-viewer', body });

    const wrong = await validate({ rules: [capRule('c1', 0), { ...capRule('c2', 1), limit: false }] });
    expect(wrong.status).toBe(200);
    expect(wrong.body.errors?.map(({ ruleId, field }) => `${ruleId}.${field}`)).toEqual([
      'c1.limit.max',
      'c2.limit',
    ]);

    // B15: a cap of a creative that can never bind beside the generic one of brands.
    const odd = await validate({
      rules: [capRule('c1', 10), { id: 'brands', dimension: 'brand', limit: { max: 5, window: '120m' } }],
    });
    expect(odd.body.errors).toEqual([]);
    expect(odd.body.warnings).toMatchObject([{ ruleId: 'c1' }]);
    const noted = await validate({ rules: [], note: 7 });
    expect(noted.body.errors).toMatchObject([{ ruleId: '(rule set)', field: 'note' }]);
    expect((await put(service, '"1"', { rules: [], note: 7 })).status).toBe(400);
    expect((await validate('{"rules": [')).status).toBe(400);
    expect((await get(service)).body.version).toBe(1);
  });
});

describe('who may do what', () => {
  test('viewers read, editors change, others do neither', async ({ servers }) => {
    await using service = await startRulesService(servers);
    await service.whenUp();
    const statusOf = async (method: string, token?: string) => {
      const options = { ifMatch: '"99"', ...(method === 'PUT' ? { body: { rules: [] } } : {}) };
      const answer = await service.call(
        method,
        '/v1/rules',
        token === undefined ? options : { ...options, token },
      );
      return answer.status;
    };
    expect(
      await Promise.all(['a-viewer', 'an-editor', 'an-operator'].map((token) => statusOf('GET', token))),
    ).toEqual([200, 200, 200]);
    expect([await statusOf('GET'), await statusOf('GET', 'guessed'), await statusOf('PUT')]).toEqual([
      401, 401, 401,
    ]);
    expect([await statusOf('PUT', 'a-viewer'), await statusOf('PUT', 'an-editor')]).toEqual([403, 412]);
  });

  test('without tokens rules are read on this machine only, and never changed', async ({ servers }) => {
    const none = { ADCAP_TOKEN_VIEWER: '', ADCAP_TOKEN_EDITOR: '', ADCAP_TOKEN_OPERATOR: '' };
    await using service = await startRulesService(servers, none);
    await service.whenUp();
    expect((await service.call('GET', '/v1/rules')).status).toBe(200);
    const forwarded = { headers: { 'x-forwarded-for': '203.0.113.9' } };
    const refused = await service.call('GET', '/v1/rules', forwarded);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="adcap"']);
    expect((await service.call('PUT', '/v1/rules', { ifMatch: '"1"', body: { rules: [] } })).status).toBe(
      401,
    );
  });
});

describe('with its servers away', () => {
  const ownTopic = async (kafka: { address: string }) => {
    const topic = { topic: topicName('rules'), partitions: 1, config: { 'cleanup.policy': 'compact' } };
    await createMissingTopics([kafka.address], [topic], 1);
  };
  const quick = { ADCAP_RULES_PUBLISH_TIMEOUT_MS: '1000' };

  test('a change that cannot be published is stored, says so, and is published by the next start', async ({
    redisUrl,
    keyPrefix,
  }) => {
    await using kafka = await startOwnKafka();
    await ownTopic(kafka);
    const servers = { kafkaBrokers: kafka.address, redisUrl, topicPrefix: '', keyPrefix };
    let stored = 0;
    {
      await using service = await startRulesService(servers, quick);
      await service.whenUp();
      await waitFor(async () => (await readRulesTopic(servers)).get('current')?.version === 1, {
        what: 'version 1 published',
      });
      await kafka.pause();
      // Until the pause has come through, changes are still published.
      let version = 1;
      const pending = await waitFor(
        async () => {
          const answer = await put(service, `"${version}"`, { rules: [capRule('c1', version)] });
          version = answer.body.version ?? version;
          return answer.status === 200 ? undefined : answer;
        },
        { what: 'a change that is not acknowledged' },
      );
      expect(pending.body).toMatchObject({ status: 503, code: 'ADCAP_BUS_UNAVAILABLE', state: 'stored' });
      expect((await get(service)).body.version).toBe(version);
      const next = await put(service, `"${version}"`, { rules: [] });
      expect([next.status, next.body.state]).toEqual([503, 'unchanged']);
      stored = version;
      // What a paused broker has already taken off the network it would still write.
      await kafka.kill();
    }
    await kafka.restart();
    await using again = await startRulesService(servers, quick);
    await again.whenUp();
    await waitFor(async () => (await readRulesTopic(servers)).get('current')?.version === stored, {
      what: 'the stored version is published',
    });
    expect((await readRulesTopic(servers)).get(`v${stored}`)).toMatchObject({ rules: [{ id: 'c1' }] });
  });

  test('without Redis reads go on, changes change nothing, and both work again when it is back', async ({
    servers,
  }) => {
    await using redis = await startOwnRedis();
    await using service = await startRulesService({ ...servers, redisUrl: redis.address });
    await service.whenUp();
    await put(service, '"1"', { rules: [capRule('c1', 1)] });

    await redis.kill();
    expect((await get(service)).body.version).toBe(2);
    const refused = await put(service, '"2"', { rules: [] });
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ code: 'ADCAP_STORE_UNAVAILABLE', state: 'unchanged' });

    await redis.restart();
    await waitFor(async () => (await put(service, '"2"', { rules: [] })).status === 200, {
      what: 'changes work again',
    });
    expect((await get(service)).body.version).toBe(3);
  });

  test('refuses a Redis that may evict the rules', async ({ servers }) => {
    await using redis = await startOwnRedis();
    const client = new Redis(redis.address);
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    client.disconnect();
    await using service = await startRulesService({ ...servers, redisUrl: redis.address });
    await waitFor(() => service.failures.length > 0, { what: 'the refusal' });
    expect(String(service.failures[0])).toContain('noeviction');
  });

  test('a start without Kafka answers reads from Redis and changes nothing', async ({ servers, redis }) => {
    const { rules: key } = createKeys(servers.keyPrefix);
    await redis.hset(key, 'version', '4', 'json', recordOf(4, [capRule('c1', 2)]));
    const port = await freePort();
    await using service = await startRulesService({ ...servers, kafkaBrokers: `127.0.0.1:${port}` });
    const read = await waitFor(
      async () => {
        const answer = await get(service);
        return answer.status === 200 ? answer : undefined;
      },
      { what: 'rules from Redis' },
    );
    expect(read.body).toMatchObject({ version: 4, rules: [{ id: 'c1' }] });
    const refused = await put(service, '"4"', { rules: [] });
    expect([refused.status, refused.body.state, refused.body.code]).toEqual([
      503,
      'unchanged',
      'ADCAP_BUS_UNAVAILABLE',
    ]);
    expect(await redis.hget(key, 'version')).toBe('4');
  });
});
