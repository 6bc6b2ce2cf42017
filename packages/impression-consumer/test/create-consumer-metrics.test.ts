import { epochMs } from '@adcap/contracts';
import type { PartitionProgress } from '@adcap/kafka-bus';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createConsumerMetrics } from '../src/create-consumer-metrics.ts';
import { anImpression, metricValue } from './testing.ts';

const NOW = 1_700_000_100_000;

const progressOf = (overrides: Partial<PartitionProgress>): PartitionProgress => ({
  nextOffset: 10n,
  highWatermark: 10n,
  lag: 0n,
  lastProgressAtMs: NOW - 50_000,
  oldestUnappliedTimestampMs: undefined,
  attempts: 0,
  ...overrides,
});

const metricsOf = (partition: PartitionProgress) => {
  const registry = new Registry();
  const metrics = createConsumerMetrics({
    registry,
    service: 'sample',
    clock: { nowMs: () => epochMs(NOW) },
    progress: () => new Map([[0, partition]]),
  });
  return { metrics, value: (name: string, labels = {}) => metricValue(registry, name, labels) };
};

test.for([
  ['nothing waiting', {}, 0],
  ['an unknown lag', { lag: undefined }, 0],
  ['a batch in hand', { lag: 5n, oldestUnappliedTimestampMs: NOW - 7_000 }, 7],
  [
    'a batch in hand and the log’s end not yet known',
    { lag: undefined, oldestUnappliedTimestampMs: NOW - 7_000 },
    7,
  ],
  ['messages that were never fetched', { lag: 5n }, 50],
] as const)('lag in seconds with %s', async ([, overrides, seconds]) => {
  const { value } = metricsOf(progressOf(overrides));
  expect(await value('adcap_sample_lag_seconds', { partition: '0' })).toBe(seconds);
});

test('lag in messages, and in seconds since the last applied message where the next was not fetched yet', async () => {
  const { metrics, value } = metricsOf(progressOf({ lag: 5n }));
  const event = anImpression({ deviceId: 'tv', at: NOW - 90_000, receivedAt: NOW - 9_000 });
  metrics.noteApplied(0, [{ offset: 9n, timestampMs: NOW - 8_000, event }]);
  expect(await value('adcap_sample_lag_messages', { partition: '0' })).toBe(5);
  expect(await value('adcap_sample_lag_seconds', { partition: '0' })).toBe(8);
  expect(await value('adcap_sample_newest_applied_age_seconds')).toBe(9);
});

test('before the first applied impression there is no age of one', async () => {
  expect(await metricsOf(progressOf({})).value('adcap_sample_newest_applied_age_seconds')).toBeNaN();
});

test('what the bus reports is counted by reason', async () => {
  const { metrics, value } = metricsOf(progressOf({}));
  metrics.bus.batchRetried?.('store');
  metrics.bus.messageUndecodable?.('not_json');
  metrics.bus.messageDeadLettered?.('store_refused');
  metrics.noteResults(['new', 'new', 'repeat']);
  expect(await value('adcap_sample_retries_total', { reason: 'store' })).toBe(1);
  expect(await value('adcap_sample_undecodable_total', { reason: 'not_json' })).toBe(1);
  expect(await value('adcap_sample_dead_letters_total', { reason: 'store_refused' })).toBe(1);
  expect(await value('adcap_sample_impressions_total', { result: 'new' })).toBe(2);
});
