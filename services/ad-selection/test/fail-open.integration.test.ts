import { startOwnRedis, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';
import { askFor, capAndBlock, OPEN } from './open-scene.ts';
import { OPERATOR, startSelection } from './start-selection.ts';

const rules = capAndBlock(1);
const ask = (breakId: string, more: { deviceId?: string; slots?: number } = {}) =>
  askFor({ deviceId: 'd1', breakId }, more);

describe('law 11: fail open, fast, and say so', () => {
  test('Redis stopped: answered open, BLOCK holds, exact again by itself', async () => {
    await using redis = await startOwnRedis();
    const selection = await startSelection({ redisUrl: redis.address, keyPrefix: 'x:' });
    selection.setRules(rules);
    await redis.stop();
    expect(await selection.select(ask('away'))).toMatchObject(OPEN);
    const ready = await fetch(`${selection.url}/readyz`);
    expect([ready.status, JSON.stringify(await ready.json())]).toEqual([
      200,
      expect.stringContaining('answered open'),
    ]);
    await redis.restart();
    const back = await waitFor(
      async () => {
        const answer = await selection.select(ask('back'));
        return answer.source === 'quotas' ? answer : undefined;
      },
      { what: 'an exact answer' },
    );
    expect(back).toMatchObject({ degraded: false, reserved: true });
    await selection.close();
  });

  test('B58 Redis paused: a hundred open answers leave no phantom reservation', async () => {
    await using redis = await startOwnRedis();
    const selection = await startSelection({
      redisUrl: redis.address,
      keyPrefix: 'x:',
      config: { ADCAP_AD_SELECTION_DEADLINE_MS: '20' },
    });
    selection.setRules(rules);
    await redis.pause();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        selection.select(ask(`b${index}`, { deviceId: `d${index % 10}` })),
      ),
    );
    for (const answer of answers) expect(answer).toMatchObject(OPEN);
    await redis.resume();
    const check = await startSelection({ redisUrl: redis.address, keyPrefix: 'x:' });
    check.setRules(rules);
    for (let device = 0; device < 10; device += 1) {
      const answer = await check.select(ask('check', { deviceId: `d${device}`, slots: 0 }));
      expect(answer).toMatchObject({ source: 'quotas', candidates: [{}, { remaining: 1 }] });
    }
    await check.close();
    await selection.close();
  });

  test('what is no decision does not fail open: release and the operator’s calls are 503 while Redis is away', async () => {
    await using redis = await startOwnRedis();
    const selection = await startSelection({ redisUrl: redis.address, keyPrefix: 'x:' });
    selection.setRules(rules);
    await redis.stop();
    const device = `${selection.url}/v1/devices/d1`;
    const headers = { authorization: `Bearer ${OPERATOR}` };
    const answered = [
      await selection.post('/v1/reservations/release', { deviceId: 'd1', breakId: 'b1' }),
      ...(await Promise.all(
        ['GET', 'DELETE'].map(async (method) => {
          const response = await fetch(device, { method, headers });
          return { status: response.status, body: await response.json() };
        }),
      )),
    ];
    for (const one of answered)
      expect(one).toMatchObject({ status: 503, body: { code: 'ADCAP_STORE_UNAVAILABLE' } });
    expect(await selection.post('/v1/reservations/release', { deviceId: '-1', breakId: 'b1' })).toMatchObject(
      {
        status: 204,
      },
    );
    await selection.close();
  });

  test('B12 a Redis that answers every script with an error: open and marked, counted, told by /readyz', async ({
    ownClient,
  }) => {
    await using redis = await startOwnRedis();
    await ownClient(redis.address).call('ACL', 'SETUSER', 'default', '-eval', '-evalsha');
    const selection = await startSelection({ redisUrl: redis.address, keyPrefix: 'x:' });
    selection.setRules(rules);
    for (let count = 0; count < 5; count += 1) {
      expect(await selection.select(ask(`b${count}`))).toMatchObject({
        ...OPEN,
        degradedReason: 'store_error',
      });
    }
    expect(await selection.registry.metrics()).toContain(
      'adcap_ad_selection_degraded_total{reason="store_error"} 5',
    );
    const ready = await fetch(`${selection.url}/readyz`);
    expect([ready.status, JSON.stringify(await ready.json())]).toEqual([
      200,
      expect.stringContaining('NOPERM'),
    ]);
    await selection.close();
  });

  test('no rules yet: open, never 503', async ({ selection }) => {
    selection.setRules(undefined);
    expect(await selection.select(ask('b'))).toMatchObject({
      source: 'open',
      degradedReason: 'no_rules',
      rulesVersion: null,
    });
  });
});
