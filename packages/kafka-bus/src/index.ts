export { type Backoff, backoffDelayMs } from './backoff.ts';
export type { AppliedPositions, Batch, BatchEvent, BatchHandler, Decoded } from './batch-handler.ts';
export type { ConsumerMetrics } from './batch-runner.ts';
export { BusOverloaded, BusRefused, BusUnavailable, isRetryableBusError } from './bus-errors.ts';
export type { BusMessage, RawMessage } from './bus-message.ts';
export type { BusLogger, BusSettings, Clock } from './bus-settings.ts';
export {
  type FollowedRecord,
  type Follower,
  type FollowerOptions,
  followCompactedTopic,
} from './compacted-follower.ts';
export { type Consumer, type ConsumerOptions, runConsumer } from './consumer.ts';
export type { DeadLetterSettings } from './dead-letter.ts';
export { deadLetter, drop, type Outcome, ok, retry } from './outcome.ts';
export { createPartitionOf } from './partition-of.ts';
export { createProducer, type Producer, type ProducerOptions } from './producer.ts';
export type { PartitionProgress } from './progress.ts';
export { type NewestOptions, type NewestRecord, type NewestRecords, readNewest } from './read-newest.ts';
export { brokersAnswer, createMissingTopics, deleteTopics, type TopicSpec } from './topic-admin.ts';
