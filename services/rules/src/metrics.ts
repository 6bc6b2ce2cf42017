import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type RulesMetrics = ReturnType<typeof createMetrics>;

export const createMetrics = (registry: Registry, version: () => number | undefined) => {
  const gauge = new Gauge({
    name: 'adcap_rules_version',
    help: 'The version of the rules that this process has; NaN before it has any',
    registers: [],
    collect() {
      this.set(version() ?? Number.NaN);
    },
  });
  registry.registerMetric(gauge);
  return {
    changes: new Counter({
      name: 'adcap_rules_changes_total',
      help: 'Asked changes by outcome; unpublished ones are in force and not yet told to the services',
      labelNames: ['outcome'] as const,
      registers: [registry],
    }),
    reconciled: new Counter({
      name: 'adcap_rules_reconciled_total',
      help: 'How often Redis and the topic had to be brought together: seeded, restored from the topic, republished',
      labelNames: ['how'] as const,
      registers: [registry],
    }),
    previews: new Counter({
      name: 'adcap_rules_previews_total',
      help: 'Asked previews by outcome: whole, partial (the time was up), busy (another was being made), gone (the client did not wait), failed',
      labelNames: ['outcome'] as const,
      registers: [registry],
    }),
    previewSeconds: new Histogram({
      name: 'adcap_rules_preview_seconds',
      help: 'How long a preview took, whatever came of it; a busy one is none',
      // 10,000 devices should take less than 5 s; 10 s is where it ends.
      buckets: [0.1, 0.5, 1, 2, 3, 5, 7.5, 10, 15],
      registers: [registry],
    }),
  };
};
