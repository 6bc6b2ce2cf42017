import path from 'node:path';
import { type Servers, settingsFor, startProcess } from '@adcap/impression-consumer/testing';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** Services that refuse to start without keys for reservation ids. */
const SIGNING = ['beacon', 'ad-selection'];

/** A service as a process of its own, with its settings. */
export const startService = (service: string, servers: Servers, more: Record<string, string> = {}) =>
  startProcess(path.join(ROOT, 'services', service, 'src/main.ts'), {
    ...settingsFor(servers, `ADCAP_${service.toUpperCase().replace('-', '_')}_PORT`),
    ...(SIGNING.includes(service) ? { ADCAP_RESERVATION_KEYS: 'k1:a secret for the tests' } : {}),
    ...more,
  });

/** Every service that follows the rules. */
const FOLLOWERS = ['beacon', 'history', 'quota', 'cleanup', 'ad-selection'];

export const startFollowers = (
  servers: Servers,
  more: Record<string, string> = {},
  services: readonly string[] = FOLLOWERS,
) =>
  Promise.all(
    services.map(async (service) => ({ service, ...(await startService(service, servers, more)) })),
  );

/** The value of one series, NaN where there is none. */
export const metricOf = async (address: string, series: string): Promise<number> => {
  const text = await (await fetch(new URL('/metrics', address))).text();
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1));
};
