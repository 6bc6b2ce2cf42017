import { AppError } from '@adcap/contracts';

/** The brokers did not acknowledge in time. What was sent may still have been written: sending it again is safe. */
export class BusUnavailable extends AppError {
  constructor(detail: string, cause?: unknown) {
    super('ADCAP_BUS_UNAVAILABLE', detail, cause === undefined ? {} : { cause });
  }
}

/** More messages wait for the brokers than the process may hold. Nothing of this call was sent. */
export class BusOverloaded extends AppError {
  constructor(detail: string) {
    super('ADCAP_BUS_UNAVAILABLE', detail);
  }
}

/** The brokers answered that these messages can never be stored (too large, topic not allowed): sending again is no use. */
export class BusRefused extends AppError {
  constructor(detail: string, cause?: unknown) {
    super('ADCAP_INTERNAL', detail, { cause });
  }
}

/** kafkajs names whose cause passes by itself, whatever their `retriable` flag says. */
const PASSING_NAMES: ReadonlySet<string> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSMetadataNotLoaded',
  'KafkaJSTopicMetadataNotLoaded',
  'KafkaJSStaleTopicMetadataAssignment',
  'KafkaJSGroupCoordinatorNotFound',
  'KafkaJSFetcherRebalanceError',
  'KafkaJSTimeout',
  'KafkaJSLockTimeout',
]);

/** Protocol errors of a group or topic that is moving, or not there yet. */
const PASSING_TYPES: ReadonlySet<string> = new Set([
  'REBALANCE_IN_PROGRESS',
  'UNKNOWN_MEMBER_ID',
  'ILLEGAL_GENERATION',
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  'OFFSET_OUT_OF_RANGE',
]);

const PASSING_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Longer chains of causes do not occur; a cyclic one must not hang. */
const MAX_CAUSES = 8;

/** Whether the same call may work later. Total: anything may be asked about, and what is unknown is not retryable. */
export const isRetryableBusError = (error: unknown): boolean => {
  let current: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (typeof current !== 'object' || current === null) return false;
    if (current instanceof AppError) return current.retryable;
    if (isPassing(current)) return true;
    current = 'cause' in current ? current.cause : undefined;
  }
  return false;
};

/** The type of the broker's own answer, where there is one in the chain of causes. */
export const brokerErrorType = (error: unknown): string | undefined => {
  let current: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (typeof current !== 'object' || current === null) return undefined;
    if ('type' in current && typeof current.type === 'string') return current.type;
    current = 'cause' in current ? current.cause : undefined;
  }
  return undefined;
};

const isPassing = (error: object): boolean => {
  const has = (key: 'name' | 'type' | 'code', values: ReadonlySet<string>): boolean => {
    const value: unknown = Reflect.get(error, key);
    return typeof value === 'string' && values.has(value);
  };
  if (has('name', PASSING_NAMES) || has('type', PASSING_TYPES) || has('code', PASSING_CODES)) return true;
  // A protocol error carries the broker's own verdict; the flag of other kafkajs errors is true by default
  // and says nothing.
  return Reflect.get(error, 'name') === 'KafkaJSProtocolError' && Reflect.get(error, 'retriable') === true;
};
