import { consumerSettings } from '@adcap/impression-consumer';
import { sharedSettings } from '@adcap/service-runtime';
import { z } from 'zod';

export const configSchema = z.object({
  ...consumerSettings,
  ADCAP_QUOTA_PORT: sharedSettings.ADCAP_QUOTA_PORT,
});

export type QuotaConfig = z.output<typeof configSchema>;
