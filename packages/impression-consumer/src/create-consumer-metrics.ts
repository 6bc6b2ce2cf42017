import type { ImpressionEvent } from '@adcap/contracts';
import type { BatchEvent, ConsumerMetrics as BusMetrics, PartitionProgress } from '@adcap/kafka-bus';
import type { Clock } from '@adcap/service-runtime';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** From a beacon's receipt to the store: fine where the target lies (250 ms), coarse where it is missed. */
const DELAY_BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3_600];

export type ConsumerMetricsOptions = {
  registry: Registry;
  /** The word of the service in the names of its metrics. */
  service: string;
  clock: Clock;
  progress: () => ReadonlyMap<number, PartitionProgress>;
};

/** The numbers of one consumer. */
export type ConsumerMetrics = {
  bus: BusMetrics;
  /** Counts impressions by what became of them; the words come from a closed set. */
  noteResults(results: readonly string[]): void;
  /** The events of a batch are applied for good. */
  noteApplied(partition: number, events: readonly BatchEvent<ImpressionEvent>[]): void;
};

const createCounters = (service: string, registers: [Registry]) => ({
  impressions: new Counter({
    name: `adcap_${service}_impressions_total`,
    help: 'Impressions by what became of them: new ones count, repeats had been counted, erased and expired ones never will be',
    labelNames: ['result'] as const,
    registers,
  }),
  retries: new Counter({
    name: `adcap_${service}_retries_total`,
    help: 'Batches that could not be applied yet and are tried again, nothing of them committed',
    labelNames: ['reason'] as const,
    registers,
  }),
  undecodable: new Counter({
    name: `adcap_${service}_undecodable_total`,
    help: 'Messages that are no impressions; the history consumer alone sets them aside',
    labelNames: ['reason'] as const,
    registers,
  }),
  deadLetters: new Counter({
    name: `adcap_${service}_dead_letters_total`,
    help: 'Messages that this consumer wrote to the dead-letter topic: somebody has to look at each',
    labelNames: ['reason'] as const,
    registers,
  }),
  delaySeconds: new Histogram({
    name: `adcap_${service}_apply_delay_seconds`,
    help: 'Time from the beacon receiving an impression to its being applied; repeats and re-reading included',
    buckets: DELAY_BUCKETS_SECONDS,
    registers,
  }),
});

/** Since when the oldest unapplied message waits; a partition that was never applied waits since it was assigned. */
const waitingSince = (progress: PartitionProgress, lastAppliedMs: number | undefined): number =>
  progress.oldestUnappliedTimestampMs ?? lastAppliedMs ?? progress.lastProgressAtMs;

const addLagGauges = (options: ConsumerMetricsOptions, lastApplied: ReadonlyMap<number, number>): void => {
  const { registry, service, clock, progress } = options;
  const labelNames = ['partition'] as const;
  registry.registerMetric(
    new Gauge({
      name: `adcap_${service}_lag_messages`,
      help: 'Messages of a partition that are not applied yet; only the partitions that this process has',
      labelNames,
      registers: [],
      collect() {
        this.reset();
        for (const [partition, { lag }] of progress())
          if (lag !== undefined) this.set({ partition: String(partition) }, Number(lag));
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: `adcap_${service}_lag_seconds`,
      help: 'For how long the oldest message that is not applied yet has been waiting, at most; 0 with nothing waiting',
      labelNames,
      registers: [],
      collect() {
        this.reset();
        for (const [partition, state] of progress()) {
          const hasWaiting = state.oldestUnappliedTimestampMs !== undefined || (state.lag ?? 0n) > 0n;
          const since = waitingSince(state, lastApplied.get(partition));
          const seconds = hasWaiting ? Math.max(0, clock.nowMs() - since) / 1_000 : 0;
          this.set({ partition: String(partition) }, seconds);
        }
      },
    }),
  );
};

/** Labels come from closed sets: a device or creative never makes a series. */
export const createConsumerMetrics = (options: ConsumerMetricsOptions): ConsumerMetrics => {
  const { registry, service, clock } = options;
  const { impressions, retries, undecodable, deadLetters, delaySeconds } = createCounters(service, [
    registry,
  ]);
  /** By partition, when the last applied message was written to the topic. */
  const lastApplied = new Map<number, number>();
  let newestReceivedAt: number | undefined;
  addLagGauges(options, lastApplied);
  registry.registerMetric(
    new Gauge({
      name: `adcap_${service}_newest_applied_age_seconds`,
      help: 'Age of the newest impression that was applied, by its receipt; NaN before the first; it also rises while nothing is watched',
      registers: [],
      collect() {
        const since = newestReceivedAt ?? Number.NaN;
        this.set(Math.max(0, clock.nowMs() - since) / 1_000);
      },
    }),
  );

  const bus: BusMetrics = {
    batchRetried: (reason) => retries.inc({ reason }),
    messageUndecodable: (reason) => undecodable.inc({ reason }),
    messageDeadLettered: (reason) => deadLetters.inc({ reason }),
  };
  return {
    bus,
    noteResults: (results) => {
      for (const result of results) impressions.inc({ result });
    },
    noteApplied: (partition, events) => {
      const nowMs = clock.nowMs();
      for (const { event, timestampMs } of events) {
        newestReceivedAt = Math.max(newestReceivedAt ?? 0, event.receivedAt);
        delaySeconds.observe(Math.max(0, nowMs - event.receivedAt) / 1_000);
        lastApplied.set(partition, timestampMs);
      }
    },
  };
};
