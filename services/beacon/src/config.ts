import { commaList, sharedSettings } from '@adcap/service-runtime';
import { z } from 'zod';

const milliseconds = z.coerce.number().int().min(1);

export const configSchema = z.object({
  KAFKA_BROKERS: sharedSettings.KAFKA_BROKERS,
  REDIS_URL: sharedSettings.REDIS_URL,
  ADCAP_LOG_LEVEL: sharedSettings.ADCAP_LOG_LEVEL,
  ADCAP_HOST: sharedSettings.ADCAP_HOST,
  ADCAP_TOPIC_PREFIX: sharedSettings.ADCAP_TOPIC_PREFIX,
  ADCAP_KEY_PREFIX: sharedSettings.ADCAP_KEY_PREFIX,
  ADCAP_RETENTION_MS: sharedSettings.ADCAP_RETENTION_MS,
  ADCAP_RESERVATION_KEYS: sharedSettings.ADCAP_RESERVATION_KEYS,
  ADCAP_RULES_FILE: sharedSettings.ADCAP_RULES_FILE,
  ADCAP_BEACON_PORT: sharedSettings.ADCAP_BEACON_PORT,
  ADCAP_BEACON_TRUSTED_PROXIES: commaList
    .prefault('')
    .describe(
      'Addresses or CIDR ranges of the proxies whose X-Forwarded-For is believed, separated by commas; none by default',
    ),
  ADCAP_BEACON_CORS_ORIGINS: commaList
    .prefault('*')
    .describe('Origins whose pages may post impressions, separated by commas; * for any'),
  ADCAP_BEACON_PRODUCER_TOKENS: commaList
    .prefault('')
    .describe(
      'Bearer tokens of producers (stitchers, imports) whose playedAt is believed by itself, separated by commas',
    ),
  ADCAP_BEACON_PUBLISH_TIMEOUT_MS: milliseconds
    .default(5_000)
    .describe('How long Kafka may take to acknowledge before the answer is 503'),
  ADCAP_BEACON_MARKS_DEADLINE_MS: milliseconds
    .default(50)
    .describe('How long a look at the marks of duplicates in Redis may take'),
  ADCAP_BEACON_REQUEST_TIMEOUT_MS: milliseconds
    .default(15_000)
    .describe('How long a whole request may take to arrive'),
});

export type BeaconConfig = z.output<typeof configSchema>;
