import type { ImpressionConsumerOptions } from '@adcap/impression-consumer';
import { createHistoryWriter } from '@adcap/redis-windows';
import type { HistoryConfig } from './config.ts';
import { createHistoryHandler } from './handlers/create-history-handler.ts';

/** The history consumer; it is also the one that sets aside what is no impression. */
export const historyConsumer: ImpressionConsumerOptions<HistoryConfig> = {
  service: 'history',
  description: 'Keeps the readable record of what each device watched.',
  port: (config) => config.ADCAP_HISTORY_PORT,
  setsUndecodableAside: true,
  createHandler: ({ redis, keys, retention, groupId, metrics }) =>
    createHistoryHandler({ groupId, metrics, writer: createHistoryWriter(redis, { keys, ...retention }) }),
};
