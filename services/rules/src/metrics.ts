import { Counter, Gauge, type Registry } from 'prom-client';

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
  };
};
