import type { ImpressionConsumerOptions } from '@adcap/impression-consumer';
import { createWindowWriter } from '@adcap/redis-windows';
import type { QuotaConfig } from './config.ts';
import { createQuotaHandler } from './handlers/create-quota-handler.ts';

/** The quota consumer; what is no impression it counts, and the history consumer sets it aside. */
export const quotaConsumer: ImpressionConsumerOptions<QuotaConfig> = {
  service: 'quota',
  description: 'Keeps the compact sliding window that decisions are made from.',
  port: (config) => config.ADCAP_QUOTA_PORT,
  setsUndecodableAside: false,
  createHandler: ({ redis, keys, retention, groupId, metrics }) =>
    createQuotaHandler({ groupId, metrics, writer: createWindowWriter(redis, { keys, ...retention }) }),
};
