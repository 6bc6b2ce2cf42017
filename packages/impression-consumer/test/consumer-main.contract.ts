import { test, waitFor } from '@adcap/testkit';
import { expect } from 'vitest';
import {
  anImpression,
  healthOf,
  instantsIn,
  keysOf,
  publishEvents,
  settingsFor,
  startProcess,
} from './testing.ts';

export type ConsumerMain = {
  /** The file of the process. */
  main: string;
  portVariable: string;
  /** Where what it applies can be seen. */
  store: 'history' | 'window';
};

/** What every consumer that writes impressions does as a process of its own. */
export const describeConsumerMain = ({ main, portVariable, store }: ConsumerMain): void => {
  test('main.ts becomes ready, applies what is published and exits 0 on SIGTERM', async ({
    redis,
    redisUrl,
    kafkaBrokers,
    keyPrefix,
    topicPrefix,
    topics: _topics,
  }) => {
    const servers = { redisUrl, kafkaBrokers, keyPrefix, topicPrefix };
    const service = await startProcess(main, settingsFor(servers, portVariable));
    await waitFor(async () => (await healthOf(service.address, '/readyz')).status === 200, { what: 'ready' });

    const event = anImpression({ deviceId: 'tv' });
    await publishEvents(servers, [event]);

    const key = keysOf(servers, 'tv')[store];
    await waitFor(async () => (await instantsIn(redis, key)).includes(event.at), { what: 'it is applied' });
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
    const service = await startProcess(main, settingsFor(nowhere, portVariable));
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
};
