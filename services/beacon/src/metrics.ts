import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Where an acknowledgement usually lies, up to the time-out. */
const PUBLISH_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export type BeaconMetrics = ReturnType<typeof createMetrics>;

/** Labels come from closed sets: a device, creative or macro never makes a series. */
type Watched = { pendingMessages: () => number };

export const createMetrics = (registry: Registry, { pendingMessages }: Watched) => {
  const registers = [registry];
  return {
    pendingMessages: new Gauge({
      name: 'adcap_beacon_pending_messages',
      help: 'Impressions that wait for the acknowledgement of Kafka; it rises while Kafka is slow or away',
      registers,
      collect() {
        this.set(pendingMessages());
      },
    }),
    impressions: new Counter({
      name: 'adcap_beacon_impressions_total',
      help: 'Impressions by what became of them; the reason says why one was ignored, rejected or not stored',
      labelNames: ['outcome', 'reason'] as const,
      registers,
    }),
    reservations: new Counter({
      name: 'adcap_beacon_reservation_marks_total',
      help: 'Impressions whose reservation id was of no use, so that the reservation stays held until it expires',
      labelNames: ['mark'] as const,
      registers,
    }),
    publishSeconds: new Histogram({
      name: 'adcap_beacon_publish_duration_seconds',
      help: 'Time from the judged request to the acknowledgement by all in-sync replicas, with the look at the marks',
      labelNames: ['result'] as const,
      buckets: PUBLISH_BUCKETS_SECONDS,
      registers,
    }),
    markFailures: new Counter({
      name: 'adcap_beacon_mark_failures_total',
      help: 'Looks at, and writings of, the marks of duplicates that failed: repeats are published again and counted once',
      registers,
    }),
  };
};
