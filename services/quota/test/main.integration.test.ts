import { fileURLToPath } from 'node:url';
import {
  anImpression,
  describeConsumerMain,
  keysOf,
  publishEvents,
  settingsFor,
  startProcess,
} from '@adcap/impression-consumer/testing';
import { test, waitFor } from '@adcap/testkit';
import { expect } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

describeConsumerMain({ main: MAIN, portVariable: 'ADCAP_QUOTA_PORT', store: 'window' });

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
