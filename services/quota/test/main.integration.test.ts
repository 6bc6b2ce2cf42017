import { fileURLToPath } from 'node:url';
import {
  anImpression,
  healthOf,
  instantsIn,
  keysOf,
  publishEvents,
  settingsFor,
  startProcess,
} from '@adcap/impression-consumer/testing';
import { test, waitFor } from '@adcap/testkit';
import { expect } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

test('main.ts becomes ready, applies what is published and exits 0 on SIGTERM', async ({
  redis,
  redisUrl,
  kafkaBrokers,
  keyPrefix,
  topicPrefix,
  topics: _topics,
}) => {
  const servers = { redisUrl, kafkaBrokers, keyPrefix, topicPrefix };
  const service = await startProcess(MAIN, settingsFor(servers, 'ADCAP_QUOTA_PORT'));
  await waitFor(async () => (await healthOf(service.address, '/readyz')).status === 200, { what: 'ready' });

  const event = anImpression({ deviceId: 'tv' });
  await publishEvents(servers, [event]);

  const { window } = keysOf(servers, 'tv');
  await waitFor(async () => (await instantsIn(redis, window)).includes(event.at), { what: 'it is applied' });
  expect((await healthOf(service.address, '/livez')).status).toBe(200);
  service.kill('SIGTERM');
  expect(await service.exited).toMatchObject({ code: 0 });
});

test('main.ts is alive and ready without its servers, and says what it waits for', async () => {
  const nowhere = {
    redisUrl: 'redis://127.0.0.1:1',
    kafkaBrokers: '127.0.0.1:1',
    keyPrefix: 'x:',
    topicPrefix: 'x.',
  };
  const service = await startProcess(MAIN, settingsFor(nowhere, 'ADCAP_QUOTA_PORT'));
  const ready = await waitFor(
    async () => {
      const health = await healthOf(service.address, '/readyz');
      return health.status === 200 ? health.body : undefined;
    },
    { what: 'ready' },
  );
  expect(ready.checks).toMatchObject({ redis: { ok: false }, kafka: { ok: false }, rules: { ok: false } });
  expect((await healthOf(service.address, '/livez')).status).toBe(200);
  service.kill('SIGTERM');
  expect(await service.exited).toMatchObject({ code: 0 });
});

test('B09 killed hard while it writes, it counts each impression once and leaves no key without a TTL', async ({
  redis,
  redisUrl,
  kafkaBrokers,
  keyPrefix,
  topicPrefix,
  topics: _topics,
}) => {
  const servers = { redisUrl, kafkaBrokers, keyPrefix, topicPrefix };
  const now = Date.now();
  const devices = Array.from({ length: 40 }, (_, index) => `tv-${index}`);
  const views = devices.flatMap((deviceId) =>
    Array.from({ length: 100 }, (_, index) => anImpression({ deviceId, at: now - index })),
  );
  await publishEvents(servers, views);
  const counted = async (): Promise<number> => {
    const each = devices.map((deviceId) => redis.zcount(keysOf(servers, deviceId).window, '(0', '+inf'));
    return (await Promise.all(each)).reduce((sum, count) => sum + count, 0);
  };

  for (const share of [0, 0.3, 0.6]) {
    const service = await startProcess(MAIN, settingsFor(servers, 'ADCAP_QUOTA_PORT'));
    await waitFor(async () => (await counted()) > share * views.length, { what: `more than ${share}` });
    service.kill('SIGKILL');
    expect(await service.exited).toMatchObject({ signal: 'SIGKILL' });
  }
  const service = await startProcess(MAIN, settingsFor(servers, 'ADCAP_QUOTA_PORT'));
  await waitFor(async () => (await counted()) === views.length, {
    what: 'every impression',
    timeoutMs: 40_000,
  });
  service.kill('SIGTERM');
  expect(await service.exited).toMatchObject({ code: 0 });

  expect(await counted()).toBe(views.length);
  const ttls = await Promise.all(devices.map((deviceId) => redis.pttl(keysOf(servers, deviceId).window)));
  expect(Math.min(...ttls)).toBeGreaterThan(23 * 3_600_000);
});
