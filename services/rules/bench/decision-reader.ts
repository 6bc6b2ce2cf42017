import { parentPort, workerData } from 'node:worker_threads';
import { epochMs } from '@adcap/contracts';
import { connectRedis, createDecisionStore, createKeys } from '@adcap/redis-windows';
import { z } from 'zod';

/*
 * Decision reads at a steady rate, as ad selection makes them, in a thread of their own: what slows them down is Redis. Sends
 * each second's latencies in milliseconds.
 */

const { url, devices, ratePerSecond } = z
  .object({ url: z.string(), devices: z.number(), ratePerSecond: z.number() })
  .parse(workerData);
const HOUR_MS = 3_600_000;
const TICK_MS = 5;

const quiet = { info: () => undefined, warn: () => undefined };
const connection = connectRedis({ url, name: 'bench-decisions', logger: quiet, role: 'decision' });
await connection.whenReady();
const store = createDecisionStore(connection, {
  keys: createKeys(),
  retentionMs: 24 * HOUR_MS,
  graceMs: HOUR_MS,
});

let asked = 0;
const readOne = async (): Promise<number> => {
  asked += 1;
  const begun = performance.now();
  await store.read({
    deviceId: `tv-${(asked * 7_919) % devices}`,
    breakKey: 'AAAAAAAAAAA',
    sinceMs: epochMs(Date.now() - 24 * HOUR_MS),
    from: 'both',
  });
  return performance.now() - begun;
};

setInterval(() => {
  for (let count = 0; count < (ratePerSecond * TICK_MS) / 1_000; count += 1)
    readOne().then(
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
      (ms) => parentPort?.postMessage(ms),
      () => process.exit(1),
    );
}, TICK_MS);
