import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Rule } from '@adcap/contracts';
import { deviceTag } from '@adcap/identity';
import { cacheFolder, startRedis } from '@adcap/local-servers';
import { connectRedis, createHistorySample, createKeys } from '@adcap/redis-windows';
import { createLogger, createMetricsRegistry, systemClock } from '@adcap/service-runtime';
import { Redis } from 'ioredis';
import { createMetrics } from '../src/metrics.ts';
import { createPreviewRules } from '../src/preview-rules.ts';

/*
 * A preview of 10,000 devices with 30 impressions each, on a Redis of its own, while decisions are read at a steady rate by
 * another thread: how long it takes, for how long it holds up its own process, and what it does to the decisions.
 *
 *   node bench/preview.ts [devices, 30,000 by default] [decisions a second, 200 by default]
 *
 * Trust the ratios: everything here shares the cores of one machine.
 */

const [devices = 30_000, ratePerSecond = 200] = process.argv.slice(2).map(Number);
const SAMPLE = 10_000;
const IMPRESSIONS = 30;
const ROUNDS = 3;
const ALONE_MS = 5_000;
const PER_WRITE = 500;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const quiet = createLogger({ name: 'bench', level: 'silent' });
const keys = createKeys();

/** Written as the history writer leaves it: 60 bytes a record. */
const fill = async (redis: Redis): Promise<void> => {
  const nowMs = Date.now();
  for (let from = 0; from < devices; from += PER_WRITE) {
    const writing = redis.pipeline();
    for (let device = from; device < Math.min(devices, from + PER_WRITE); device += 1) {
      const members = Array.from({ length: IMPRESSIONS }, (_, index) => {
        const at = nowMs - index * 2_700_000 - device;
        const what = (index * 7 + device) % 24;
        const names = [
          `cr-${1_000 + what}`,
          `k-${what % 8}`,
          `brand-${what % 12}.example`,
          [`industry ${what % 6}`],
        ];
        return [at, JSON.stringify([`${device}`.padStart(9, 'A') + String(10 + index), at, ...names])];
      });
      writing.zadd(keys.device(deviceTag(`tv-${device}`)).history, ...members.flat());
    }
    // One write after the other: the server takes no more at once.
    // oxlint-disable-next-line no-await-in-loop
    await writing.exec();
  }
};

const generic = (dimension: Rule['dimension'], max: number): Rule => ({
  id: `${dimension} ${max}`,
  dimension,
  limit: { max, window: '24h' },
});
const DIMENSIONS = ['creative', 'campaign', 'brand', 'industry'] as const;
const setOf = (max: number) => ({
  dimensions: {},
  rules: DIMENSIONS.map((dimension) => generic(dimension, max)),
});

const percentile = (sorted: readonly number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN).toFixed(2);

const tellLatencies = (what: string, latencies: readonly number[]): void => {
  const sorted = latencies.toSorted((a, b) => a - b);
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => percentile(sorted, share));
  say(`  decision reads ${what}: ${sorted.length}, p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`);
};

const dataDir = await mkdtemp(path.join(tmpdir(), 'adcap-bench-'));
const server = await startRedis({ cacheDir: cacheFolder(), dataDir });
const redis = new Redis(server.address);
const connection = connectRedis({ url: server.address, name: 'bench', logger: quiet, role: 'decision' });
await connection.whenReady();
await fill(redis);
const preview = createPreviewRules({
  history: createHistorySample(connection, { keys, random: Math.random }),
  decisions: () => Promise.resolve('no_decisions'),
  book: { read: () => Promise.resolve({ schema: 1, version: 1, ...setOf(12), publishedAt: Date.now() }) },
  metrics: createMetrics(createMetricsRegistry(), () => 1),
  clock: systemClock,
  retentionMs: 86_400_000,
  limitMs: 10_000,
});

let latencies: number[] = [];
const reader = new Worker(new URL('./decision-reader.ts', import.meta.url), {
  workerData: { url: server.address, devices, ratePerSecond },
});
reader.on('message', (ms: number) => latencies.push(ms));
await delay(2_000);
latencies = [];
await delay(ALONE_MS);
say(`${devices} devices with ${IMPRESSIONS} impressions, ${ratePerSecond} decision reads a second`);
tellLatencies('alone', latencies);

for (let round = 1; round <= ROUNDS; round += 1) {
  latencies = [];
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const begun = performance.now();
  // One after the other: each is measured by itself.
  // oxlint-disable-next-line no-await-in-loop
  const answer = await preview({
    draft: setOf(4),
    sample: SAMPLE,
    since: undefined,
    signal: new AbortController().signal,
  });
  const seconds = (performance.now() - begun) / 1_000;
  loop.disable();
  const { sampled, population, impressions, isPartial, blockedShare } = answer;
  const { low, high } = blockedShare.interval;
  say(
    `preview ${round}: ${seconds.toFixed(2)} s; ${sampled} of about ${population} devices, ${impressions} impressions, ` +
      `blocked ${(100 * blockedShare.share).toFixed(1)} % (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})${isPartial ? ', partial' : ''}`,
  );
  say(
    `  event loop: p99 ${(loop.percentile(99) / 1e6).toFixed(1)} ms, max ${(loop.max / 1e6).toFixed(1)} ms`,
  );
  tellLatencies('meanwhile', latencies);
}

await reader.terminate();
await connection.close();
redis.disconnect();
await server[Symbol.asyncDispose]();
await rm(dataDir, { recursive: true, force: true });
