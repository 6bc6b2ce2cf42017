/** The topics of the suite; a settable prefix goes before each of them. */
export const TOPICS = {
  impressions: 'adcap.impressions.v1',
  rules: 'adcap.rules.v1',
  audit: 'adcap.audit.v1',
  decisions: 'adcap.decisions.v1',
  rejectedImpressions: 'adcap.impressions.rejected.v1',
  deadImpressions: 'adcap.impressions.dlq.v1',
} as const;

export type TopicName = keyof typeof TOPICS;

/** The full name of a topic under the installation's prefix (`''` by default). */
export const topicName = (name: TopicName, prefix = ''): string => `${prefix}${TOPICS[name]}`;

/** The key of the record that holds the rules in force in the compacted rules topic. */
export const CURRENT_RULES_KEY = 'current';
/** The key of the record that keeps version n. */
export const rulesVersionKey = (version: number): string => `v${version}`;
