import { startOwnRedis, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';
import { capAndBlock } from './open-scene.ts';
import { OPERATOR, type Selection, startSelection } from './start-selection.ts';

const HOUR_MS = 3_600_000;
const rules = capAndBlock(1);
const ask = (breakId: string, more: Record<string, unknown> = {}) => ({
  deviceId: 'd1',
  breakId,
  breakAt: Date.now(),
  slots: 2,
  candidates: [{ creativeId: 'bad' }, { creativeId: 'c1' }, { creativeId: 'c1' }],
  ...more,
});
/** One of each creative fits into a pod, whatever else is known. */
const switchedOpen = {
  source: 'open',
  degraded: true,
  degradedReason: 'switched_open',
  reserved: false,
  asOf: null,
  candidates: [{ outcome: 'capped' }, { outcome: 'placed' }, { outcome: 'podCapped' }],
};

/** `PUT /answer-open` under /v1/switches, or only `GET`. */
const call = async (
  { url }: Pick<Selection, 'url'>,
  what: string,
  { body, token = OPERATOR }: { body?: unknown; token?: string } = {},
) => {
  const [method = 'GET', path = ''] = what.split(' ');
  const response = await fetch(`${url}/v1/switches${path}`, {
    method,
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answered: Record<string, unknown> = JSON.parse(await response.text());
  return { status: response.status, body: answered };
};

const turnOn = (selection: Selection, name: string, forMs = HOUR_MS) =>
  call(selection, `PUT /${name}`, { body: { forMs } });

const startWithRules = async (redisUrl: string, keyPrefix: string): Promise<Selection> => {
  const selection = await startSelection({ redisUrl, keyPrefix });
  selection.setRules(rules);
  return selection;
};

const untilAnswered = (selection: Selection, expected: 'open' | 'quotas' | 'history') =>
  waitFor(
    async () => {
      const answer = await selection.select(ask(`b${Math.random()}`));
      return answer.source === expected ? answer : undefined;
    },
    { what: `an answer from ${expected}` },
  );

describe('operator switches', () => {
  test('answer-open acts at once where it is told and soon in the other instance, until it is turned off', async ({
    redisUrl,
    keyPrefix,
  }) => {
    const told = await startWithRules(redisUrl, keyPrefix);
    const other = await startWithRules(redisUrl, keyPrefix);
    const changed = await turnOn(told, 'answer-open');
    expect(changed).toMatchObject({ status: 200, body: { name: 'answer-open', on: true, shared: true } });
    expect(await told.select(ask('b1'))).toMatchObject(switchedOpen);
    expect(await untilAnswered(other, 'open')).toMatchObject(switchedOpen);
    expect((await call(other, 'GET')).body).toMatchObject({
      switches: [
        { name: 'decide-from-history', on: false, until: null },
        { name: 'answer-open', on: true, until: changed.body['until'] },
      ],
    });
    expect(await told.registry.metrics()).toContain('adcap_ad_selection_switch_on{switch="answer-open"} 1');
    const ready = await fetch(`${other.url}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([
      200,
      { checks: { switches: { ok: false, detail: expect.stringContaining('answer-open until') } } },
    ]);

    expect(await call(other, 'DELETE /answer-open')).toMatchObject({
      status: 200,
      body: { on: false, until: null, shared: true },
    });
    expect((await other.select(ask('b2'))).source).toBe('quotas');
    await untilAnswered(told, 'quotas');
    expect(await told.registry.metrics()).toContain('adcap_ad_selection_switch_on{switch="answer-open"} 0');
    await told.close();
    await other.close();
  });

  test('answer-open asks Redis nothing for a decision', async ({ redisUrl, keyPrefix }) => {
    let calls = 0;
    const selection = await startSelection({
      redisUrl,
      keyPrefix,
      through: (store) => ({
        ...store,
        read: (request) => {
          calls += 1;
          return store.read(request);
        },
      }),
    });
    selection.setRules(rules);
    await turnOn(selection, 'answer-open');
    for (let index = 0; index < 5; index += 1) await selection.select(ask(`b${index}`));
    expect(calls).toBe(0);
    expect(await selection.select(ask('b', { deviceId: '-1' }))).toMatchObject({ source: 'unidentified' });
    await selection.close();
  });

  test('decide-from-history reads the history, and each switch ends by itself', async ({
    selection,
    redisUrl,
    keyPrefix,
  }) => {
    selection.setRules(rules);
    const other = await startWithRules(redisUrl, keyPrefix);
    await turnOn(selection, 'decide-from-history', 1_500);
    expect(await selection.select(ask('b1'))).toMatchObject({ source: 'history', degraded: false });
    await untilAnswered(other, 'history');
    await untilAnswered(selection, 'quotas');
    await untilAnswered(other, 'quotas');
    await other.close();
  });

  test('work with Redis stopped: at once, said to be unshared, and shared when it is back', async ({
    keyPrefix,
  }) => {
    await using redis = await startOwnRedis();
    const told = await startWithRules(redis.address, keyPrefix);
    const other = await startWithRules(redis.address, keyPrefix);
    await redis.stop();
    const until = new Date(Date.now() + HOUR_MS).toISOString();
    expect(await call(told, 'PUT /answer-open', { body: { until } })).toMatchObject({
      status: 200,
      body: { on: true, until: Date.parse(until), shared: false },
    });
    expect(await told.select(ask('b1'))).toMatchObject(switchedOpen);
    await redis.restart();
    await waitFor(async () => (await other.select(ask('b2'))).degradedReason === 'switched_open', {
      what: 'the other instance hears of it',
    });
    await told.close();
    await other.close();
  });

  test('outlive a Redis that is emptied, and an old one in a restored copy stays off', async ({
    redis,
    redisUrl,
    keyPrefix,
  }) => {
    const told = await startWithRules(redisUrl, keyPrefix);
    await turnOn(told, 'answer-open');
    const copy = await redis.hget(`${keyPrefix}switches`, 'answer-open');
    await redis.del(`${keyPrefix}switches`);
    await waitFor(async () => (await redis.hget(`${keyPrefix}switches`, 'answer-open')) === copy, {
      what: 'it is told to Redis again',
    });
    expect((await told.select(ask('b1'))).degradedReason).toBe('switched_open');
    await call(told, 'DELETE /answer-open');
    await redis.hset(`${keyPrefix}switches`, { 'answer-open': String(copy), 'decide-from-history': 'junk' });
    await waitFor(async () => (await redis.hget(`${keyPrefix}switches`, 'answer-open')) !== copy, {
      what: 'Redis is told that it is off',
    });
    expect((await told.select(ask('b2'))).source).toBe('quotas');
    await told.close();
  });

  test('without the operator’s token are 401, and nothing changes', async ({ selection }) => {
    expect([
      await call(selection, 'GET', { token: '' }),
      await call(selection, 'PUT /answer-open', { token: 'wrong', body: { forMs: 1 } }),
      await call(selection, 'DELETE /answer-open', { token: 'viewer-token' }),
    ]).toMatchObject([{ status: 401 }, { status: 401 }, { status: 401 }]);
    expect((await selection.select(ask('b1'))).source).toBe('open');
  });

  test('the token of another role is 403', async ({ redisUrl, keyPrefix }) => {
    const selection = await startSelection({
      redisUrl,
      keyPrefix,
      config: { ADCAP_TOKEN_EDITOR: 'editor-token-for-tests' },
    });
    const token = 'editor-token-for-tests';
    expect([
      await call(selection, 'GET', { token }),
      await call(selection, 'PUT /answer-open', { token, body: { forMs: HOUR_MS } }),
      await call(selection, 'DELETE /answer-open', { token }),
    ]).toMatchObject([{ status: 403 }, { status: 403 }, { status: 403 }]);
    await selection.close();
  });

  test.for<[string, string, unknown]>([
    ['params.name', '/all', { forMs: 1 }],
    ['forMs', '/answer-open', {}],
    ['forMs', '/answer-open', { forMs: 0 }],
    ['forMs', '/answer-open', { forMs: 24 * HOUR_MS + 1 }],
    ['forMs', '/answer-open', { forMs: '1000' }],
    ['forMs', '/answer-open', { forMs: null }],
    ['until', '/answer-open', { forMs: 1_000, until: Date.now() + HOUR_MS }],
    ['until', '/answer-open', { until: Date.now() - 1 }],
    ['until', '/answer-open', { until: Date.now() + 25 * HOUR_MS }],
    ['until', '/answer-open', { until: '2026-03-10T03:40:00' }],
    ['until', '/answer-open', { until: 1_700_000_000 }],
    ['minutes', '/answer-open', { minutes: 5 }],
  ])('refuse what is wrong and name it: %s %s %j', async ([field, path, body], { selection }) => {
    expect(await call(selection, `PUT ${path}`, { body })).toMatchObject({
      status: 400,
      body: { code: 'ADCAP_REQUEST_INVALID', errors: [{ field }] },
    });
    expect((await call(selection, 'GET')).body).toMatchObject({
      switches: [{ on: false }, { on: false }],
    });
  });
});
