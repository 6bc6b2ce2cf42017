import { fileURLToPath } from 'node:url';
import {
  anImpression,
  healthOf,
  publishEvents,
  settingsFor,
  startProcess,
} from '@adcap/impression-consumer/testing';
import { createKeys } from '@adcap/redis-windows';
import { test, waitFor } from '@adcap/testkit';
import { expect } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

test('main.ts becomes ready, follows what is published and exits 0 on SIGTERM', async ({
  redis,
  redisUrl,
  kafkaBrokers,
  keyPrefix,
  topicPrefix,
  topics: _topics,
}) => {
  const servers = { redisUrl, kafkaBrokers, keyPrefix, topicPrefix };
  const service = await startProcess(MAIN, settingsFor(servers, 'ADCAP_CLEANUP_PORT'));
  await waitFor(async () => (await healthOf(service.address, '/readyz')).status === 200, { what: 'ready' });

  await publishEvents(servers, [anImpression({ deviceId: 'tv' })]);

  const applied = createKeys(keyPrefix).applied(`${topicPrefix}cleanup`);
  await waitFor(async () => (await redis.hvals(applied)).includes('1'), { what: 'it is applied' });
  expect((await healthOf(service.address, '/livez')).status).toBe(200);
  service.kill('SIGTERM');
  expect(await service.exited).toMatchObject({ code: 0 });
});
