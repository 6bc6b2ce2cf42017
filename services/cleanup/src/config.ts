import { consumerSettings } from '@adcap/impression-consumer';
import { sharedSettings } from '@adcap/service-runtime';
import { z } from 'zod';

const positive = z.coerce.number().int().min(1);

export const configSchema = z.object({
  ...consumerSettings,
  ADCAP_CLEANUP_PORT: sharedSettings.ADCAP_CLEANUP_PORT,
  ADCAP_CLEANUP_TRIM_INTERVAL_MS: positive
    .default(60_000)
    .describe('How often a device that keeps watching is trimmed at most'),
  ADCAP_CLEANUP_SCAN_INTERVAL_MS: positive
    .default(1_000)
    .describe('Time between two steps of the look for keys that would live for ever'),
  ADCAP_CLEANUP_SCAN_KEYS: positive
    .max(10_000)
    .default(500)
    .describe('About how many keys such a step looks at; many at once hold up the other users of Redis'),
});

export type CleanupConfig = z.output<typeof configSchema>;
