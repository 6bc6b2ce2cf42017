import { Gauge, type Registry } from 'prom-client';

/** Tells dashboards which version of which service answers. */
export const registerBuildInfo = (registry: Registry, build: { name: string; version: string }): void => {
  const gauge = new Gauge({
    name: 'adcap_build_info',
    help: 'Always 1; the labels say which service this is and its version',
    labelNames: ['service', 'version'] as const,
    registers: [registry],
  });
  gauge.set({ service: build.name, version: build.version }, 1);
};
