import { topicName } from '@adcap/contracts';
import { connectRedis, createHistorySample, createKeys } from '@adcap/redis-windows';
import type { ServiceContext } from '@adcap/service-runtime';
import { createRecordedDecisions } from './adapters/recorded-decisions.ts';
import type { RulesConfig } from './config.ts';
import type { RulesMetrics } from './metrics.ts';
import { createPreviewRules, type PreviewRules } from './preview-rules.ts';
import type { RuleBook } from './rule-book.ts';

/** Joining the brokers takes seconds where groups are made slowly. */
const SHARE_OF_BROKERS = 0.4;

/** Previews over a connection of their own: nobody waits behind what they read. */
export const openPreview = (
  stack: AsyncDisposableStack,
  { config, logger, clock }: ServiceContext<RulesConfig>,
  { book, metrics }: { book: RuleBook; metrics: RulesMetrics },
): PreviewRules => {
  const limitMs = config.ADCAP_RULES_PREVIEW_LIMIT_MS;
  const redis = connectRedis({ url: config.REDIS_URL, name: 'rules-preview', logger, role: 'decision' });
  stack.defer(() => redis.close());
  return createPreviewRules({
    // Drawing lots, not keeping secrets.
    history: createHistorySample(redis, { keys: createKeys(config.ADCAP_KEY_PREFIX), random: Math.random }),
    decisions: createRecordedDecisions({
      bus: { brokers: config.KAFKA_BROKERS, clientId: 'adcap-rules-preview', logger },
      topic: topicName('decisions', config.ADCAP_TOPIC_PREFIX),
      timeoutMs: Math.ceil(limitMs * SHARE_OF_BROKERS),
    }),
    book,
    metrics,
    clock,
    retentionMs: config.ADCAP_RETENTION_MS,
    limitMs,
  });
};
