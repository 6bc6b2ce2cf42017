import { LIMITS } from '@adcap/contracts';
import { createTopics, loadTopics } from '@adcap/local-servers';
import { test as base, startOwnKafka, startOwnRedis, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { reservationTokens, someClaims } from './beacon-fixtures.ts';
import { metricValue, readImpressions, runBeacon, type Servers } from './run-beacon.ts';

/** The shared servers with topics and a namespace of the test's own. */
const test = base.extend<{ servers: Servers }>({
  servers: async ({ topics, kafkaBrokers, redisUrl, topicPrefix, keyPrefix }, use) => {
    if (topics.length === 0) throw new Error('there are no topics');
    await use({ kafkaBrokers, redisUrl, topicPrefix, keyPrefix });
  },
});

const view = (impressionId: string, deviceId = 'd1') => ({ deviceId, creativeId: 'c1', impressionId });

const post = (address: string, impressions: readonly object[], headers: Record<string, string> = {}) =>
  fetch(`${address}/v1/impressions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ impressions }),
  });

const pixelOutcome = async (address: string, query: string): Promise<string | null> => {
  const answer = await fetch(`${address}/v1/pixel.gif?${query}`);
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
  return answer.headers.get('x-adcap-outcome');
};

/** How often each impression id is on the topic. */
const storedIds = async (servers: Servers) => {
  const stored = await readImpressions(servers);
  const counts = new Map<string, number>();
  for (const { event } of stored) {
    const id = event.impressionId ?? event.fingerprint;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
};

describe('the beacon on Kafka and Redis', () => {
  test('B01 publishes three ids of one millisecond, and one id once', async ({ servers }) => {
    await using beacon = await runBeacon(servers);
    const at = (id: string, device: string) => ({ ...view(id, device), ageMs: 1_000 });

    const three = await post(beacon.address, [at('x', 'd1'), at('y', 'd1'), at('z', 'd1')]);
    expect(await three.json()).toMatchObject({ accepted: 3, duplicates: 0 });
    const one = await post(beacon.address, [at('w', 'd2'), at('w', 'd2'), at('w', 'd2')]);
    expect(await one.json()).toMatchObject({ accepted: 1, duplicates: 2 });

    const stored = await readImpressions(servers);
    expect(stored.filter(({ key }) => key === 'd1')).toHaveLength(3);
    expect(stored.filter(({ key }) => key === 'd2')).toHaveLength(1);
  });

  test('B30 publishes the same event for every content type, with its time on the server’s clock', async ({
    servers,
  }) => {
    await using beacon = await runBeacon(servers);
    const before = Date.now();
    const types = ['application/json', 'text/plain;charset=UTF-8', 'application/json; charset=utf-8'];
    for (const [index, type] of types.entries()) {
      const answer = await post(beacon.address, [{ ...view(`x${index}`), ageMs: 60_000 }], {
        'content-type': type,
      });
      expect(answer.status).toBe(202);
    }
    const untyped = await fetch(`${beacon.address}/v1/impressions`, {
      method: 'POST',
      body: Buffer.from(JSON.stringify({ impressions: [{ ...view('x3'), ageMs: 60_000 }] })),
    });
    expect(untyped.status).toBe(202);

    const stored = await readImpressions(servers);
    expect(stored.map(({ event }) => event.impressionId)).toStrictEqual(['x0', 'x1', 'x2', 'x3']);
    for (const { event } of stored) {
      expect(event.at).toBe(event.receivedAt - 60_000);
      expect(event.receivedAt).toBeGreaterThanOrEqual(before);
      expect(event.receivedAt).toBeLessThanOrEqual(Date.now());
    }
  });

  test('B31 B33 B36 publishes nothing for HEAD, OPTIONS and unidentified devices', async ({
    redis,
    servers,
  }) => {
    await using beacon = await runBeacon(servers);
    const url = `${beacon.address}/v1/pixel.gif?deviceId=d1&creativeId=c1&impressionId=head`;
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(405);
    expect((await fetch(url, { method: 'OPTIONS' })).status).toBe(204);
    const devices = ['[IFA]', '%5BIFA%5D', '%%IFA%%', '-1', '-2', '', 'null', 'undefined', '000'];
    for (const device of devices) {
      const query = `deviceId=${device}&creativeId=c1&impressionId=macro`;
      expect(await pixelOutcome(beacon.address, query)).toBe('ignored');
    }
    expect(await pixelOutcome(beacon.address, 'deviceId=d1&creativeId=c1&impressionId=seen')).toBe(
      'accepted',
    );

    expect(await storedIds(servers)).toStrictEqual(new Map([['seen', 1]]));
    expect(await redis.keys(`${servers.keyPrefix}*`)).toHaveLength(1);
    const labels = { outcome: 'ignored', reason: 'unidentified' };
    expect(await metricValue(beacon.registry, 'adcap_beacon_impressions_total', labels)).toBe(devices.length);
  });

  test('B32 publishes one message for the same pixel 2 times, 20 times at once, and from another beacon', async ({
    redis,
    servers,
  }) => {
    await using beacon = await runBeacon(servers);
    await using other = await runBeacon(servers);
    const query = 'deviceId=d1&creativeId=c1&impressionId=x&cb=42';
    const twenty = await Promise.all(Array.from({ length: 20 }, () => pixelOutcome(beacon.address, query)));
    expect(twenty.filter((found) => found === 'accepted')).toHaveLength(1);
    expect(twenty.filter((found) => found === 'duplicate')).toHaveLength(19);
    expect(await pixelOutcome(beacon.address, query)).toBe('duplicate');
    expect(await pixelOutcome(other.address, query)).toBe('duplicate');
    expect(await storedIds(servers)).toStrictEqual(new Map([['x', 1]]));

    const [mark = ''] = await redis.keys(`${servers.keyPrefix}*`);
    expect(await redis.pttl(mark)).toBeGreaterThan(0);
    expect(await redis.pttl(mark)).toBeLessThanOrEqual(120_000);

    // Ten minutes later the mark is gone; what every consumer counts by is the same.
    await redis.del(mark);
    expect(await pixelOutcome(beacon.address, query)).toBe('accepted');
    const stored = await readImpressions(servers);
    expect(stored).toHaveLength(2);
    expect(new Set(stored.map(({ event }) => event.fingerprint)).size).toBe(1);
  });

  test('B33 counts two views 20 minutes apart and takes 20 seconds for one, where a macro was left for the id', async ({
    servers,
  }) => {
    await using beacon = await runBeacon(servers);
    const query = (ageMs: number) => `deviceId=d1&creativeId=c1&impressionId=[CACHEBUSTING]&ageMs=${ageMs}`;
    expect(await pixelOutcome(beacon.address, query(1_200_000))).toBe('accepted');
    expect(await pixelOutcome(beacon.address, query(1_180_500))).toBe('duplicate');
    expect(await pixelOutcome(beacon.address, query(0))).toBe('accepted');
    expect(await readImpressions(servers)).toHaveLength(2);
  });

  test('B35 takes one id from two pixels for one, and four ads of a pod without ids for four', async ({
    servers,
  }) => {
    await using beacon = await runBeacon(servers);
    const wrapper = 'deviceId=d1&creativeId=c1&impressionId=x&seller=wrapper';
    expect(await pixelOutcome(beacon.address, wrapper)).toBe('accepted');
    expect(await pixelOutcome(beacon.address, 'deviceId=d1&creativeId=c1&impressionId=x')).toBe('duplicate');

    const pod = [1, 2, 3, 4].map((slot) => `deviceId=d1&creativeId=c1&sessionId=s&breakId=br&slot=${slot}`);
    for (const query of pod) expect(await pixelOutcome(beacon.address, query)).toBe('accepted');
    for (const query of pod) expect(await pixelOutcome(beacon.address, query)).toBe('duplicate');
    // Without break and slot, four of one creative at once are one: there is nothing to tell them apart by.
    const same = Array.from({ length: 4 }, () => ({ deviceId: 'd1', creativeId: 'c9' }));
    expect(await (await post(beacon.address, same)).json()).toMatchObject({ accepted: 1, duplicates: 3 });
  });

  test('takes a reservation id alone from a pixel, and the same view with it from a client as its repeat', async ({
    servers,
  }) => {
    await using beacon = await runBeacon(servers);
    const reservationId = reservationTokens.sign(someClaims());
    expect(await pixelOutcome(beacon.address, `t=${reservationId}`)).toBe('accepted');
    const again = await post(beacon.address, [{ ...view('x'), reservationId }]);
    expect(await again.json()).toMatchObject({ accepted: 0, duplicates: 1 });
    const [stored] = await readImpressions(servers);
    expect(stored?.event).toMatchObject({ identity: 'reservation', brandId: 'b1', breakId: 'br1', slot: 2 });
  });

  test('B39 publishes the good items of a batch and nothing of a bad one', async ({ servers }) => {
    await using beacon = await runBeacon(servers);
    const bad = { deviceId: 'd1', creativeId: '' };
    const mixed = await post(beacon.address, [view('x'), bad, view('y')]);
    expect(await mixed.json()).toMatchObject({ accepted: 2, rejected: [{ index: 1 }] });
    expect((await post(beacon.address, [bad, bad])).status).toBe(400);
    expect((await post(beacon.address, [])).status).toBe(400);
    expect(await storedIds(servers)).toStrictEqual(
      new Map([
        ['x', 1],
        ['y', 1],
      ]),
    );
  });

  test('B41 publishes the most items that one request may have', async ({ servers }) => {
    await using beacon = await runBeacon(servers);
    const impressions = Array.from({ length: LIMITS.impressionsPerRequest }, (_, index) => ({
      ...view(`x${index}`, `d${index % 100}`),
      campaignId: 'campaign-2026-spring',
      brandId: 'https://www.acme.example/',
      industryIds: ['IAB-123', 'IAB-456'],
      sessionId: '0b0e4a3e-5f0e-4a53-9f3a-6f6c5c9a2b11',
      breakId: 'midroll-3',
      slot: 1 + (index % 4),
    }));
    const answer = await post(beacon.address, impressions);
    expect(await answer.json()).toMatchObject({ accepted: LIMITS.impressionsPerRequest, rejected: [] });
    expect((await storedIds(servers)).size).toBe(LIMITS.impressionsPerRequest);
  });

  test('B44 publishes 500 distinct views posted at once, none missing', async ({ servers }) => {
    await using beacon = await runBeacon(servers);
    const ids = Array.from({ length: 500 }, (_, index) => `x${index}`);
    const answers = await Promise.all(
      ids.map(async (id, index) => (await post(beacon.address, [view(id, `d${index % 50}`)])).json()),
    );
    for (const answer of answers) expect(answer).toMatchObject({ accepted: 1 });
    expect(await storedIds(servers)).toStrictEqual(new Map(ids.map((id) => [id, 1])));
  });

  test('B54 keys every view by its device, each device in one partition', async ({ servers }) => {
    await using beacon = await runBeacon(servers);
    const devices = [
      'd1',
      'device-2',
      '📺🎬',
      'ü'.repeat(256),
      ...Array.from({ length: 20 }, (_, i) => `m${i}`),
    ];
    for (const round of [1, 2, 3]) {
      const answer = await post(
        beacon.address,
        devices.map((device) => view(`x${round}`, device)),
      );
      expect(await answer.json()).toMatchObject({ accepted: devices.length });
    }
    await post(beacon.address, [view('nobody', '')]);

    const stored = await readImpressions(servers);
    expect(stored).toHaveLength(3 * devices.length);
    expect(stored.every(({ key, event }) => key === event.deviceId)).toBe(true);
    for (const device of devices) {
      const partitions = stored.filter(({ key }) => key === device).map(({ partition }) => partition);
      expect(new Set(partitions).size).toBe(1);
    }
    expect(new Set(stored.map(({ partition }) => partition)).size).toBe(3);
  });
});

describe('the beacon without Redis', () => {
  test('still accepts, while Redis hangs and after it is gone', async ({ servers }) => {
    await using redis = await startOwnRedis();
    const settings = { ...servers, redisUrl: redis.address };
    await using beacon = await runBeacon(settings, { ADCAP_BEACON_MARKS_DEADLINE_MS: '50' });
    expect(await (await post(beacon.address, [view('a')])).json()).toMatchObject({ accepted: 1 });
    expect(await (await post(beacon.address, [view('a')])).json()).toMatchObject({ duplicates: 1 });

    await redis.pause();
    const start = performance.now();
    expect(await (await post(beacon.address, [view('b')])).json()).toMatchObject({ accepted: 1 });
    expect(performance.now() - start).toBeLessThan(1_000);
    await redis.resume();

    await redis.stop();
    await waitFor(() => !beacon.redis.isReady(), { what: 'the beacon notices that Redis is gone' });
    expect(await (await post(beacon.address, [view('c'), view('c')])).json()).toMatchObject({
      accepted: 1,
      duplicates: 1,
    });
    expect(await metricValue(beacon.registry, 'adcap_beacon_mark_failures_total')).toBeGreaterThan(0);

    await redis.restart();
    await waitFor(() => beacon.redis.isReady(), { what: 'the beacon is connected again' });
    expect(await (await post(beacon.address, [view('d')])).json()).toMatchObject({ accepted: 1 });
    expect(await (await post(beacon.address, [view('d')])).json()).toMatchObject({ duplicates: 1 });
    const ids = await storedIds(servers);
    expect([...ids.keys()]).toStrictEqual(['a', 'b', 'c', 'd']);
  });
});

describe('the beacon without Kafka', () => {
  // A killed broker is let in again only when its old session has run out, which takes 9 s by default.
  test('answers 503 and claims nothing; every id that it ever accepted is on the topic', {
    timeout: 120_000,
  }, async ({ redisUrl, keyPrefix, topicPrefix }) => {
    await using kafka = await startOwnKafka();
    const servers = { redisUrl, keyPrefix, topicPrefix, kafkaBrokers: kafka.address };
    await createTopics(kafka.address, await loadTopics(), { prefix: topicPrefix, partitions: 3 });
    await using beacon = await runBeacon(servers, { ADCAP_BEACON_PUBLISH_TIMEOUT_MS: '1500' });
    const accepted: string[] = [];
    const refused: string[] = [];
    let sent = 0;
    const send = async (): Promise<number> => {
      const ids = [0, 1, 2].map((place) => `x${sent}-${place}`);
      sent += 1;
      const answer = await post(
        beacon.address,
        ids.map((id) => view(id)),
      );
      const body: unknown = await answer.json();
      if (answer.status === 202) {
        expect(body).toMatchObject({ accepted: 3 });
        accepted.push(...ids);
      } else {
        expect(answer.status).toBe(503);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(body).toMatchObject({ code: 'ADCAP_IMPRESSIONS_NOT_STORED' });
        refused.push(...ids);
      }
      return answer.status;
    };

    await waitFor(async () => (await send()) === 202, { what: 'a first batch is accepted' });
    const around = Array.from({ length: 50 }, () => send());
    await kafka.kill();
    await Promise.all(around);
    expect(await send()).toBe(503);
    const pixel = await fetch(`${beacon.address}/v1/pixel.gif?deviceId=d1&creativeId=c1&impressionId=p`);
    expect(pixel.status).toBe(503);
    expect(pixel.headers.get('x-adcap-outcome')).toBeNull();
    expect((await fetch(`${beacon.address}/readyz`)).status).toBe(200);

    await kafka.restart();
    await waitFor(async () => (await send()) === 202, { what: 'a batch is accepted again' });
    const again = await post(
      beacon.address,
      refused.slice(0, 3).map((id) => view(id)),
    );
    expect(await again.json()).toMatchObject({ accepted: 3 });
    accepted.push(...refused.slice(0, 3));

    const ids = await storedIds(servers);
    expect(accepted.filter((id) => !ids.has(id))).toStrictEqual([]);
  });

  test('answers what it has begun before it closes, and only then', async ({
    redisUrl,
    keyPrefix,
    topicPrefix,
  }) => {
    await using kafka = await startOwnKafka();
    const servers = { redisUrl, keyPrefix, topicPrefix, kafkaBrokers: kafka.address };
    await createTopics(kafka.address, await loadTopics(), { prefix: topicPrefix, partitions: 3 });
    await using beacon = await runBeacon(servers, { ADCAP_BEACON_PUBLISH_TIMEOUT_MS: '20000' });
    await waitFor(async () => (await post(beacon.address, [view('first')])).status === 202, {
      what: 'a first view is accepted',
    });

    await kafka.pause();
    const ids = Array.from({ length: 10 }, (_, index) => `x${index}`);
    const answers = ids.map((id) => post(beacon.address, [view(id)]));
    await waitFor(() => beacon.producer.pending === ids.length, { what: 'ten views are in flight' });
    const closed = beacon[Symbol.asyncDispose]();
    await waitFor(
      () =>
        fetch(`${beacon.address}/livez`).then(
          () => false,
          () => true,
        ),
      {
        what: 'nobody new is let in',
      },
    );
    await kafka.resume();

    for (const answer of await Promise.all(answers)) {
      expect(answer.status).toBe(202);
      expect(await answer.json()).toMatchObject({ accepted: 1 });
    }
    await closed;
    expect((await storedIds(servers)).size).toBe(1 + ids.length);
  });
});
