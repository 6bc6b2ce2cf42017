import { describe, expect, test } from 'vitest';
import { backoffDelayMs, pause, settledOrAborted } from '../src/backoff.ts';

describe('backoffDelayMs', () => {
  const backoff = { initialMs: 50, maxMs: 5_000 };

  test.for([
    { attempt: 1, random: 1, delayMs: 50 },
    { attempt: 2, random: 1, delayMs: 100 },
    { attempt: 2, random: 0.5, delayMs: 50 },
    { attempt: 7, random: 1, delayMs: 3_200 },
    { attempt: 8, random: 1, delayMs: 5_000 },
    { attempt: 1_000_000, random: 1, delayMs: 5_000 },
    { attempt: 3, random: 0, delayMs: 1 },
  ])('is $delayMs ms for attempt $attempt with chance $random', ({ attempt, random, delayMs }) => {
    expect(backoffDelayMs(attempt, backoff, () => random)).toBe(delayMs);
  });
});

describe('pause', () => {
  test('returns at once when the signal has fired', async () => {
    await expect(pause(3_600_000, AbortSignal.abort())).resolves.toBeUndefined();
  });

  test('returns early when the signal fires', async () => {
    const stop = new AbortController();
    const paused = pause(3_600_000, stop.signal);
    stop.abort();
    await expect(paused).resolves.toBeUndefined();
  });
});

describe('settledOrAborted', () => {
  test('does not wait for work that never ends', async () => {
    const stop = new AbortController();
    const waited = settledOrAborted(new Promise(() => {}), stop.signal);
    stop.abort();
    await expect(waited).resolves.toBeUndefined();
  });

  test('does not report the failure of the work', async () => {
    const waited = settledOrAborted(Promise.reject(new Error('boom')), new AbortController().signal);
    await expect(waited).resolves.toBeUndefined();
  });
});
