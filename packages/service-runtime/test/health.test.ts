import { afterEach, expect, test, vi } from 'vitest';
import { createHealth } from '../src/index.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('readyz is starting, then ready, then draining for good', async () => {
  const health = createHealth();
  expect(await health.readyz()).toEqual({ ok: false, body: { status: 'starting', checks: {} } });
  health.markReady();
  expect(await health.readyz()).toEqual({ ok: true, body: { status: 'ready', checks: {} } });
  health.markDraining();
  health.markReady();
  expect(await health.readyz()).toEqual({ ok: false, body: { status: 'draining', checks: {} } });
});

test('readyz fails with a required check and not with an informative one', async () => {
  const health = createHealth();
  health.markReady();
  let consumerRuns = true;
  health.register('required', 'consumer', async () => ({ ok: consumerRuns }));
  health.register('informative', 'redis', () => ({ ok: false, detail: 'circuit open' }));
  const redis = { ok: false, detail: 'circuit open' };
  expect(await health.readyz()).toEqual({
    ok: true,
    body: { status: 'ready', checks: { consumer: { ok: true }, redis } },
  });
  consumerRuns = false;
  expect(await health.readyz()).toEqual({
    ok: false,
    body: { status: 'unready', checks: { consumer: { ok: false }, redis } },
  });
});

test('livez judges liveness checks alone, also while starting', async () => {
  const health = createHealth();
  health.register('required', 'redis', () => ({ ok: false }));
  expect(await health.livez()).toEqual({ ok: true, body: { status: 'alive', checks: {} } });
  health.register('liveness', 'loop', () => ({ ok: false, detail: 'no tick for 60 s' }));
  expect(await health.livez()).toEqual({
    ok: false,
    body: { status: 'stuck', checks: { loop: { ok: false, detail: 'no tick for 60 s' } } },
  });
});

test('a check that throws has failed with its message', async () => {
  const health = createHealth();
  health.register('required', 'sync', () => {
    throw new Error('broken');
  });
  health.register('required', 'async', async () => Promise.reject(new Error('refused')));
  expect((await health.readyz()).body.checks).toEqual({
    sync: { ok: false, detail: 'broken' },
    async: { ok: false, detail: 'refused' },
  });
});

test('a check that hangs has failed after a second', async () => {
  vi.useFakeTimers();
  const health = createHealth();
  health.register('required', 'redis', async () => new Promise<never>(() => undefined));
  const report = health.readyz();
  await vi.advanceTimersByTimeAsync(1_000);
  expect((await report).body.checks).toEqual({ redis: { ok: false, detail: 'no answer within 1000 ms' } });
});

test('two checks of one name are a mistake', () => {
  const health = createHealth();
  health.register('required', 'redis', () => ({ ok: true }));
  expect(() => health.register('liveness', 'redis', () => ({ ok: true }))).toThrow('redis');
});
