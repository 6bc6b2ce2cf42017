import type { Freed, StrayStep } from '@adcap/redis-windows';
import { Counter, type Registry } from 'prom-client';

export type CleanupMetrics = ReturnType<typeof createMetrics>;

/** What cleanup has beside the numbers of every consumer. */
export const createMetrics = (registry: Registry) => {
  const registers = [registry];
  const freed = new Counter({
    name: 'adcap_cleanup_freed_total',
    help: 'Dropped for age or number: impressions of windows and of histories, and reservations that have expired',
    labelNames: ['kind'] as const,
    registers,
  });
  const trims = new Counter({
    name: 'adcap_cleanup_trims_total',
    help: 'Devices trimmed, and those that Redis refused because something else lies under their keys',
    labelNames: ['result'] as const,
    registers,
  });
  const scannedKeys = new Counter({
    name: 'adcap_cleanup_scanned_keys_total',
    help: 'Keys looked at for a missing TTL',
    registers,
  });
  const mendedKeys = new Counter({
    name: 'adcap_cleanup_mended_keys_total',
    help: 'Keys that would have lived for ever and were given a TTL: something else than this suite writes here',
    registers,
  });
  const scanRounds = new Counter({
    name: 'adcap_cleanup_scan_rounds_total',
    help: 'Complete looks at every key of every device',
    registers,
  });
  const scanFailures = new Counter({
    name: 'adcap_cleanup_scan_failures_total',
    help: 'Steps of that look that failed and are made again',
    registers,
  });
  return {
    noteFreed: ({ window, history, reservations }: Freed): void => {
      freed.inc({ kind: 'window' }, window);
      freed.inc({ kind: 'history' }, history);
      freed.inc({ kind: 'reservation' }, reservations);
    },
    noteTrims: (trimmed: number, refused: number): void => {
      trims.inc({ result: 'trimmed' }, trimmed);
      trims.inc({ result: 'refused' }, refused);
    },
    noteScanStep: ({ cursor, seen, mended }: StrayStep): void => {
      scannedKeys.inc(seen);
      mendedKeys.inc(mended);
      if (cursor === '0') scanRounds.inc();
    },
    noteScanFailure: (): void => scanFailures.inc(),
  };
};
