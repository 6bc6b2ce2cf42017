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
  ADCAP_GROUP_PREFIX: sharedSettings.ADCAP_GROUP_PREFIX,
  ADCAP_RETENTION_MS: sharedSettings.ADCAP_RETENTION_MS,
  ADCAP_RESERVATION_GRACE_MS: sharedSettings.ADCAP_RESERVATION_GRACE_MS,
  ADCAP_RESERVATION_KEYS: sharedSettings.ADCAP_RESERVATION_KEYS,
  ADCAP_TOKEN_VIEWER: sharedSettings.ADCAP_TOKEN_VIEWER,
  ADCAP_TOKEN_EDITOR: sharedSettings.ADCAP_TOKEN_EDITOR,
  ADCAP_TOKEN_OPERATOR: sharedSettings.ADCAP_TOKEN_OPERATOR,
  ADCAP_RATE_LIMIT_PEER: sharedSettings.ADCAP_RATE_LIMIT_PEER,
  ADCAP_RATE_LIMIT_ACTOR: sharedSettings.ADCAP_RATE_LIMIT_ACTOR,
  ADCAP_RULES_FILE: sharedSettings.ADCAP_RULES_FILE,
  ADCAP_AD_SELECTION_PORT: sharedSettings.ADCAP_AD_SELECTION_PORT,
  ADCAP_AD_SELECTION_DEADLINE_MS: milliseconds
    .default(10)
    .describe('How long the whole Redis part of a decision may take; a caller may shorten it'),
  ADCAP_AD_SELECTION_DECIDE_FROM: z
    .enum(['quotas', 'history'])
    .default('quotas')
    .describe('What decisions are read from; with history the suite runs without the quota consumer'),
  ADCAP_AD_SELECTION_STALE_AFTER_MS: milliseconds
    .default(60_000)
    .describe('How far behind the impressions of a device may be before its answers are degraded, as behind'),
  ADCAP_AD_SELECTION_MAX_IN_FLIGHT: z.coerce
    .number()
    .int()
    .min(1)
    .default(1_000)
    .describe('Decisions under way at once in this process; one more is answered open, as overload'),
  ADCAP_AD_SELECTION_DECISION_SAMPLE: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('The share of decisions that is published on the decisions topic'),
  ADCAP_AD_SELECTION_REQUEST_TIMEOUT_MS: milliseconds
    .default(5_000)
    .describe('How long a whole request may take to arrive'),
});

export type AdSelectionConfig = z.output<typeof configSchema>;
