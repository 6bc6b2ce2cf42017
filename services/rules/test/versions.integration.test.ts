import { topicName } from '@adcap/contracts';
import { createProducer } from '@adcap/kafka-bus';
import { createKeys } from '@adcap/redis-windows';
import { freePort, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';
import { capRule, get, logger, put, type RulesService, startRulesService } from './start-rules-service.ts';

const read = (service: RulesService, path: string) => service.call('GET', path, { token: 'a-viewer' });

const rollback = (service: RulesService, ifMatch: string, body: unknown) =>
  service.call('POST', '/v1/rules/rollback', { token: 'an-editor', ifMatch, body });

describe('the versions', () => {
  test('are listed newest first with who made them, when and why, in every instance and after a restart', async ({
    servers,
  }) => {
    const named = { ADCAP_TOKEN_EDITOR: 'jane=jane-token,an-editor' };
    await using service = await startRulesService(servers, named);
    await service.whenUp();
    await service.call('PUT', '/v1/rules', {
      token: 'jane-token',
      ifMatch: '"1"',
      body: { rules: [capRule('a', 1)], note: 'the first cap' },
    });
    const before = Date.now();
    await put(service, '"2"', { rules: [capRule('a', 1), capRule('b', 1)] });

    const { status, body } = await read(service, '/v1/rules/versions');
    expect([status, body.current]).toEqual([200, 3]);
    expect(body.versions).toMatchObject([
      { version: 3, author: 'editor', ruleCount: 2 },
      { version: 2, author: 'jane', note: 'the first cap', ruleCount: 1 },
      { version: 1, author: 'start', ruleCount: 0 },
    ]);
    expect(body.versions?.[0]?.publishedAt).toBeGreaterThanOrEqual(before);
    expect(body.versions?.[0]).not.toHaveProperty('rules');

    await using again = await startRulesService(servers);
    await again.whenUp();
    expect((await read(again, '/v1/rules/versions')).body).toEqual(body);
    await put(service, '"3"', { rules: [] });
    await waitFor(async () => (await read(again, '/v1/rules/versions')).body.versions?.[0]?.version === 4, {
      what: 'the other instance lists version 4',
    });
  });

  test('are told whole, and those that are not kept are 404', async ({ service }) => {
    await put(service, '"1"', { dimensions: { brand: 'off' }, rules: [capRule('a', 1)], note: 'why' });
    await put(service, '"2"', { rules: [] });
    expect((await read(service, '/v1/rules/versions/2')).body).toMatchObject({
      version: 2,
      author: 'editor',
      note: 'why',
      dimensions: { brand: 'off' },
      rules: [capRule('a', 1)],
    });
    const inForce = await read(service, '/v1/rules/versions/3');
    expect(inForce.body).toMatchObject({ version: 3, rules: [] });
    const unknown = await read(service, '/v1/rules/versions/4');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'ADCAP_RULES_UNKNOWN_VERSION']);
    const wrong = await read(service, '/v1/rules/versions/latest');
    expect([wrong.status, wrong.body.code]).toEqual([400, 'ADCAP_REQUEST_INVALID']);
  });

  test('that others wrote, or that are none, do no harm', async ({ servers, service }) => {
    const topic = topicName('rules', servers.topicPrefix);
    const producer = createProducer({
      bus: { brokers: [servers.kafkaBrokers], clientId: 'test', logger },
      topics: [topic],
      timeoutMs: 20_000,
    });
    const record = (version: number, more: object = {}) =>
      JSON.stringify({ schema: 1, version, dimensions: {}, rules: [], publishedAt: 1, ...more });
    await producer.send(topic, [
      { key: 'v7', value: record(8) },
      { key: 'v8', value: 'not json' },
      { key: 'v9', value: record(9, { schema: 2 }) },
      { key: 'other', value: record(10) },
      { key: 'v5', value: record(5, { note: 'kept' }) },
      { key: 'v6', value: record(6) },
      { key: 'v6', value: null },
    ]);
    await producer.close();
    await waitFor(async () => (await read(service, '/v1/rules/versions/5')).status === 200, {
      what: 'version 5 read',
    });
    const { body } = await read(service, '/v1/rules/versions');
    expect(body.versions?.map(({ version }) => version)).toEqual([9, 5, 1]);
    expect((await read(service, '/v1/rules/versions/9')).status).toBe(404);
  });

  test('without Kafka at the start: 503, but the one in force is told from Redis', async ({
    servers,
    redis,
  }) => {
    const json = JSON.stringify({ schema: 1, version: 4, dimensions: {}, rules: [], publishedAt: 1 });
    await redis.hset(createKeys(servers.keyPrefix).rules, 'version', '4', 'json', json);
    await using service = await startRulesService({
      ...servers,
      kafkaBrokers: `127.0.0.1:${await freePort()}`,
    });
    await waitFor(async () => (await get(service)).status === 200, { what: 'rules from Redis' });
    expect((await read(service, '/v1/rules/versions/4')).body).toMatchObject({ version: 4 });
    const list = await read(service, '/v1/rules/versions');
    expect([list.status, list.body.code]).toEqual([503, 'ADCAP_BUS_UNAVAILABLE']);
    expect((await read(service, '/v1/rules/versions/3')).status).toBe(503);
  });
});

describe('GET /v1/rules/diff', () => {
  test('tells rules that came, went and changed by their fields, and switches', async ({ service }) => {
    await put(service, '"1"', { rules: [capRule('kept', 1), capRule('gone', 1), capRule('changed', 1)] });
    await put(service, '"2"', {
      dimensions: { industry: 'off' },
      rules: [capRule('kept', 1), { ...capRule('changed', 4), final: true }, capRule('came', 1)],
    });
    await put(service, '"3"', { rules: [] });

    expect((await read(service, '/v1/rules/diff?from=2&to=3')).body).toEqual({
      from: 2,
      to: 3,
      added: [capRule('came', 1)],
      removed: [capRule('gone', 1)],
      changed: [
        {
          id: 'changed',
          fields: [
            { field: 'limit', before: { max: 1, window: '60m' }, after: { max: 4, window: '60m' } },
            { field: 'final', before: null, after: true },
          ],
        },
      ],
      dimensions: [{ dimension: 'industry', before: 'on', after: 'off' }],
      isReordered: false,
    });
    expect((await read(service, '/v1/rules/diff?from=3')).body).toMatchObject({
      to: 4,
      added: [],
      dimensions: [{ dimension: 'industry', before: 'off', after: 'on' }],
    });
  });

  test.for([
    ['/v1/rules/diff', 400, 'querystring.from'],
    ['/v1/rules/diff?from=1&to=x', 400, 'querystring.to'],
    ['/v1/rules/diff?from=1&until=1', 400, 'querystring.until'],
    ['/v1/rules/diff?from=9', 404, undefined],
  ] as const)('%s is refused with %i', async ([path, status, field], { service }) => {
    const refused = await read(service, path);
    expect(refused.status).toBe(status);
    expect(refused.body.errors?.[0]?.field).toBe(field);
  });
});

describe('POST /v1/rules/rollback', () => {
  test('makes a new version equal to an earlier one, and says so', async ({ service }) => {
    await put(service, '"1"', { dimensions: { brand: 'off' }, rules: [capRule('a', 1)] });
    await put(service, '"2"', { rules: [capRule('b', 1)] });

    const back = await rollback(service, '"3"', { version: 2, note: 'b was a mistake' });
    expect([back.status, back.headers.get('etag')]).toEqual([200, '"4"']);
    expect(back.body).toEqual({ version: 4, dimensions: { brand: 'off' }, rules: [capRule('a', 1)] });
    expect((await get(service)).body).toEqual(back.body);
    expect((await read(service, '/v1/rules/diff?from=2&to=4')).body).toMatchObject({
      added: [],
      removed: [],
      changed: [],
      dimensions: [],
    });
    expect((await read(service, '/v1/rules/versions')).body.versions?.[0]).toMatchObject({
      version: 4,
      author: 'editor',
      note: 'rollback to version 2: b was a mistake',
    });
    expect((await rollback(service, '"4"', { version: 3 })).body.rules).toEqual([capRule('b', 1)]);
  });

  test('refuses an unknown version, one that today’s laws refuse, and unknown fields', async ({
    servers,
  }) => {
    {
      await using service = await startRulesService(servers);
      await service.whenUp();
      await put(service, '"1"', { rules: [capRule('day', 1, { window: '24h' })] });
      await put(service, '"2"', { rules: [] });
      const unknown = await rollback(service, '"3"', { version: 9 });
      expect([unknown.status, unknown.body.code]).toEqual([404, 'ADCAP_RULES_UNKNOWN_VERSION']);
      const odd = await rollback(service, '"3"', { version: 2, force: true });
      expect([odd.status, odd.body.errors?.[0]?.field]).toEqual([400, 'force']);
    }
    await using shorter = await startRulesService(servers, { ADCAP_RETENTION_MS: '3600000' });
    await shorter.whenUp();
    const wrong = await rollback(shorter, '"3"', { version: 2 });
    expect([wrong.status, wrong.body.code]).toEqual([400, 'ADCAP_RULES_INVALID']);
    expect(wrong.body.errors).toMatchObject([{ ruleId: 'day', field: 'limit.window' }]);
    expect((await get(shorter)).body.version).toBe(3);
  });
});
