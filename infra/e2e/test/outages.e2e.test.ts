import { impressionEventSchema } from '@adcap/contracts';
import { test, waitFor } from '@adcap/testkit';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openSuite, type Suite } from './suite.ts';

const MINUTE = 60_000;

let suite: Suite;
beforeAll(async () => {
  suite = await openSuite({ ADCAP_BEACON_PUBLISH_TIMEOUT_MS: '2000' });
});
afterAll(() => suite[Symbol.asyncDispose]());

const ask = (deviceId: string, breakId: string) => ({
  deviceId,
  breakId,
  breakAt: Date.now() + 5_000,
  candidates: [{ creativeId: 'promo-once' }],
});

const untilExact = (deviceId: string) =>
  waitFor(
    async () => {
      const answer = await suite.select(ask(deviceId, 'again'));
      return answer.degraded ? undefined : answer;
    },
    { what: 'an exact answer' },
  );

describe('Redis stopped', () => {
  test('decisions are open and marked, beacons are accepted, and all is exact again by itself', async () => {
    await suite.watch([{ deviceId: 'r1', creativeId: 'promo-once', impressionId: 'before', ageMs: MINUTE }]);
    await suite.untilApplied('r1', 1);
    await suite.redis.stop();
    expect(await suite.select(ask('r1', 'away'))).toMatchObject({
      source: 'open',
      degraded: true,
      candidates: [{ allowed: true }],
    });
    const told = await suite.watch([
      { deviceId: 'r2', creativeId: 'promo-once', impressionId: 'during', ageMs: 0 },
    ]);
    expect(told.accepted).toBe(1);
    await suite.redis.restart();
    expect((await untilExact('r1')).candidates[0]).toMatchObject({ remaining: 0, blockedBy: { used: 1 } });
    await suite.untilApplied('r2', 1);
  });

  test('law 15: a Redis that comes back empty is filled again from the topic, without new traffic', async ({
    ownClient,
  }) => {
    await suite.watch([{ deviceId: 'r3', creativeId: 'promo-once', impressionId: 'kept', ageMs: MINUTE }]);
    await suite.untilApplied('r3', 1);
    await ownClient(suite.redis.address).flushall();
    await suite.redis.stop();
    await suite.redis.restart();
    await suite.untilApplied('r3', 1);
    expect((await untilExact('r3')).candidates[0]).toMatchObject({ remaining: 0 });
  });
});

describe('Redis emptied under connections that hold', () => {
  test('law 15: it is filled again within seconds, and no answer meanwhile is wrong without saying so', async ({
    ownClient,
  }) => {
    await suite.watch([{ deviceId: 'r4', creativeId: 'promo-once', impressionId: 'held', ageMs: MINUTE }]);
    await suite.untilApplied('r4', 1);
    expect(await suite.select(ask('r4', 'b'))).toMatchObject({ degraded: false, asOf: expect.any(Number) });
    await ownClient(suite.redis.address).flushall();
    await waitFor(async () => (await suite.select(ask('r4', 'b'))).asOf === null, { what: 'it is noticed' });
    const silentlyWrong: unknown[] = [];
    await waitFor(
      async () => {
        const answer = await suite.select(ask('r4', 'b'));
        const isRight = answer.candidates[0]?.remaining === 0;
        if (!isRight && !answer.degraded) silentlyWrong.push(answer);
        return isRight && !answer.degraded;
      },
      { what: 'an exact answer' },
    );
    expect(silentlyWrong).toEqual([]);
    await suite.untilApplied('r4', 1);
  });
});

describe('Kafka stopped', () => {
  test('the beacon answers 503 and claims nothing; whatever it accepted is on the topic, one by one', async () => {
    const accepted: string[] = [];
    const tell = async (id: string): Promise<number> => {
      const impressions = [{ deviceId: `k-${id}`, creativeId: 'c1', impressionId: id, ageMs: 0 }];
      const { status, headers } = await suite.post('BEACON', '/v1/impressions', { impressions });
      if (status === 202) accepted.push(id);
      if (status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      return status;
    };
    const before = await Promise.all(Array.from({ length: 200 }, (_, index) => tell(`before-${index}`)));
    expect(new Set(before)).toEqual(new Set([202]));
    const during = Array.from({ length: 100 }, (_, index) => tell(`edge-${index}`));
    await suite.kafka.kill();
    await Promise.all(during);
    expect(await tell('down')).toBe(503);
    expect(await suite.select(ask('k1', 'no-kafka'))).toMatchObject({ source: 'quotas', degraded: false });
    await suite.kafka.restart();
    await waitFor(async () => (await tell(`back-${accepted.length}`)) === 202, {
      what: 'an accepted impression',
      timeoutMs: 60_000,
    });
    const ids = new Set(
      (await suite.published()).map((value) => impressionEventSchema.parse(JSON.parse(value)).impressionId),
    );
    expect(accepted.filter((id) => !ids.has(id))).toEqual([]);
    await suite.untilApplied(`k-${accepted.at(-1)}`, 1);
  });
});
