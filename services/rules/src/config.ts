import { sharedSettings } from '@adcap/service-runtime';
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
  ADCAP_TOKEN_VIEWER: sharedSettings.ADCAP_TOKEN_VIEWER,
  ADCAP_TOKEN_EDITOR: sharedSettings.ADCAP_TOKEN_EDITOR,
  ADCAP_TOKEN_OPERATOR: sharedSettings.ADCAP_TOKEN_OPERATOR,
  ADCAP_RATE_LIMIT_PEER: sharedSettings.ADCAP_RATE_LIMIT_PEER,
  ADCAP_RATE_LIMIT_ACTOR: sharedSettings.ADCAP_RATE_LIMIT_ACTOR,
  ADCAP_RULES_FILE: sharedSettings.ADCAP_RULES_FILE,
  ADCAP_RULES_PORT: sharedSettings.ADCAP_RULES_PORT,
  ADCAP_RULES_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(1_024)
    .max(8_000_000)
    .default(4_194_304)
    .describe('How large a version of the rules may be, as JSON; below max.message.bytes of the rules topic'),
  ADCAP_RULES_PUBLISH_TIMEOUT_MS: milliseconds
    .default(5_000)
    .describe('How long Kafka may take to acknowledge a change before the answer is 503'),
  ADCAP_RULES_RECONCILE_INTERVAL_MS: milliseconds
    .default(2_000)
    .describe('How often Redis and the topic are compared and the one that is behind is mended'),
  ADCAP_RULES_PREVIEW_LIMIT_MS: milliseconds
    .max(25_000)
    .default(10_000)
    .describe('How long a preview may take; what has been looked at by then is answered as a smaller sample'),
});

export type RulesConfig = z.output<typeof configSchema>;
