export { type Backoff, backoffDelayMs } from './backoff.ts';
export { BusOverloaded, BusRefused, BusUnavailable, isRetryableBusError } from './bus-errors.ts';
export type { BusMessage, RawMessage } from './bus-message.ts';
export type { BusLogger, BusSettings, Clock } from './bus-settings.ts';
export { deadLetter, drop, ok, type Outcome, retry } from './outcome.ts';
export { createProducer, type Producer, type ProducerOptions } from './producer.ts';
