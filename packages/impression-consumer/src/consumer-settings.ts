import { sharedSettings } from '@adcap/service-runtime';
import { z } from 'zod';

/** The settings that every consumer of impressions has; each adds those of its own. */
export const consumerSettings = {
  KAFKA_BROKERS: sharedSettings.KAFKA_BROKERS,
  REDIS_URL: sharedSettings.REDIS_URL,
  ADCAP_LOG_LEVEL: sharedSettings.ADCAP_LOG_LEVEL,
  ADCAP_HOST: sharedSettings.ADCAP_HOST,
  ADCAP_TOPIC_PREFIX: sharedSettings.ADCAP_TOPIC_PREFIX,
  ADCAP_KEY_PREFIX: sharedSettings.ADCAP_KEY_PREFIX,
  ADCAP_GROUP_PREFIX: sharedSettings.ADCAP_GROUP_PREFIX,
  ADCAP_RETENTION_MS: sharedSettings.ADCAP_RETENTION_MS,
  ADCAP_RESERVATION_GRACE_MS: sharedSettings.ADCAP_RESERVATION_GRACE_MS,
  ADCAP_RULES_FILE: sharedSettings.ADCAP_RULES_FILE,
} as const;

const consumerConfigSchema = z.object(consumerSettings);

/** What a consumer needs of the settings of its service. */
export type ConsumerConfig = z.output<typeof consumerConfigSchema>;
