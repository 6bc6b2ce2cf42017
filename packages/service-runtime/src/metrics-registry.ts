import { collectDefaultMetrics, Registry } from 'prom-client';

/** A registry of its own (never the global one) with the process's metrics; which service it is, the scraper labels. */
export const createMetricsRegistry = (): Registry => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
};
