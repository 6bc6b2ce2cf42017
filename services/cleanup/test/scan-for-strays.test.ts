import { waitFor } from '@adcap/testkit';
import { expect, test } from 'vitest';
import { scanForStrays } from '../src/scan-for-strays.ts';

test('waits for Redis; a round goes on where its last step ended or failed, and begins anew after a reconnect', async () => {
  const cursors: string[] = [];
  const answers: Record<number, string | Error> = { 1: '7', 2: new Error('away'), 3: '9', 4: '0', 5: '3' };
  let failures = 0;
  let looks = 0;
  const stop = scanForStrays({
    cleaner: {
      scanForStray: async ({ cursor }) => {
        cursors.push(cursor);
        const answer = answers[cursors.length] ?? '5';
        if (answer instanceof Error) throw answer;
        return { cursor: answer, seen: 10, mended: 1 };
      },
    },
    redis: {
      epoch: () => (cursors.length < 5 ? 1 : 2),
      isReady: () => {
        looks += 1;
        return looks > 3;
      },
    },
    keysPerStep: 10,
    intervalMs: 1,
    metrics: {
      noteScanStep: () => undefined,
      noteScanFailure: () => {
        failures += 1;
      },
    },
    logger: { debug: () => undefined, warn: () => undefined },
  });
  await waitFor(() => cursors.length >= 7, { what: 'seven steps' });
  await stop();
  const made = cursors.length;
  expect(cursors.slice(0, 7)).toEqual(['0', '7', '7', '9', '0', '0', '5']);
  expect(failures).toBe(1);
  await stop();
  expect(cursors).toHaveLength(made);
});
