import { epochMs } from '@adcap/contracts';
import { createHealth } from '@adcap/service-runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { registerChecks } from '../src/register-checks.ts';
import { STUCK_AFTER_MS, watchLiveness } from '../src/watch-liveness.ts';

const clock = { nowMs: () => epochMs(Date.now()) };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A consumer with one attempt that began now and never ends. */
const hangingConsumer = () => {
  const startedAtMs = Date.now();
  return {
    isStuck: (nowMs: number, limitMs: number) => nowMs - startedAtMs > limitMs,
    isHealthy: () => true,
    progress: () => new Map(),
  };
};

test('B56 watchLiveness reports a batch that hangs within a minute, once', () => {
  const reported: Error[] = [];
  watchLiveness(hangingConsumer(), clock, (error) => reported.push(error));
  vi.advanceTimersByTime(STUCK_AFTER_MS);
  expect(reported).toEqual([]);
  vi.advanceTimersByTime(60_000 - STUCK_AFTER_MS);
  expect(reported).toHaveLength(1);
  vi.advanceTimersByTime(60_000);
  expect(reported).toHaveLength(1);
});

test('watchLiveness ends when it is told to', () => {
  const reported: Error[] = [];
  watchLiveness(hangingConsumer(), clock, (error) => reported.push(error))();
  vi.advanceTimersByTime(120_000);
  expect(reported).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('B56 a batch that hangs turns /livez red within a minute; absent servers turn nothing red', async () => {
  const health = createHealth();
  registerChecks(health, {
    consumer: { ...hangingConsumer(), isHealthy: () => false },
    redis: { isReady: () => false },
    clock,
  });
  health.markReady();
  expect((await health.livez()).ok).toBe(true);
  const ready = await health.readyz();
  expect(ready.ok).toBe(true);
  expect(ready.body.checks).toMatchObject({
    kafka: { ok: false },
    redis: { ok: false },
  });
  vi.advanceTimersByTime(60_000);
  expect((await health.livez()).ok).toBe(false);
});
