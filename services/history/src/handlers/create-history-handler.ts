import type { ImpressionEvent } from '@adcap/contracts';
import { type ConsumerMetrics, createApplyHandler } from '@adcap/impression-consumer';
import type { BatchHandler } from '@adcap/kafka-bus';
import type { ImpressionWriter } from '@adcap/redis-windows';

/** Puts every impression into the history of its device, once. */
export const createHistoryHandler = (deps: {
  groupId: string;
  writer: ImpressionWriter;
  metrics: Pick<ConsumerMetrics, 'noteResults' | 'noteApplied'>;
}): BatchHandler<ImpressionEvent> => createApplyHandler({ name: 'history', ...deps });
