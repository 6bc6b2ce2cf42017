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
  const service = await startProcess(MAIN, settingsFor(servers, 'ADCAP_HISTORY_PORT'));
  await waitFor(async () => (await healthOf(service.address, '/readyz')).status === 200, { what: 'ready' });

  const event = anImpression({ deviceId: 'tv' });
  await publishEvents(servers, [event]);

  const { history } = keysOf(servers, 'tv');
  await waitFor(async () => (await instantsIn(redis, history)).includes(event.at), { what: 'it is applied' });
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
  const service = await startProcess(MAIN, settingsFor(nowhere, 'ADCAP_HISTORY_PORT'));
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
