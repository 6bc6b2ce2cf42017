import { consumerSettings } from '@adcap/impression-consumer';
import { sharedSettings } from '@adcap/service-runtime';
import { z } from 'zod';

export const configSchema = z.object({
  ...consumerSettings,
  ADCAP_HISTORY_PORT: sharedSettings.ADCAP_HISTORY_PORT,
});

export type HistoryConfig = z.output<typeof configSchema>;
