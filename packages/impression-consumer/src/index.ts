export { type ConsumerConfig, consumerSettings } from './consumer-settings.ts';
export { createApplyHandler } from './create-apply-handler.ts';
export type { ConsumerMetrics } from './create-consumer-metrics.ts';
export { decodeImpression, UNDECODABLE_REASONS, type UndecodableReason } from './decode-impression.ts';
export { outcomeOf } from './outcome-of.ts';
export { runImpressionConsumer } from './run-impression-consumer.ts';
export {
  type ConsumerParts,
  type ImpressionConsumer,
  type ImpressionConsumerOptions,
  startImpressionConsumer,
} from './start-impression-consumer.ts';
