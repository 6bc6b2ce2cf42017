import { auditEventSchema, impressionEventSchema, TOPICS, type TopicName } from '@adcap/contracts';
import type { TopicSpec } from '@adcap/local-servers';
import { z } from 'zod';
import { GENERATED_BY, markdownTable } from './markdown-table.ts';

const HOUR_MS = 3_600_000;

const CONTENT: Readonly<Record<TopicName, { key: string; content: string }>> = {
  impressions: { key: 'device', content: 'NEW_IMPRESSION: every ad that was watched' },
  rules: { key: '`current` and `v<n>`', content: 'the rules in force, and the versions before' },
  audit: { key: 'what it was done to', content: 'AUDIT: who changed what, and looked at which device' },
  decisions: {
    key: 'device',
    content:
      'what was decided: what took each place and how many were left over, what was blocked and by which rule',
  },
  rejectedImpressions: { key: 'device', content: 'impressions that were refused, with the reason' },
  deadImpressions: {
    key: 'as it came',
    content: 'messages of the impressions topic that can never be applied, with the reason',
  },
};

const keptFor = ({ config }: TopicSpec): string => {
  if (config['cleanup.policy'] === 'compact') return 'compacted';
  const ms = Number(config['retention.ms']);
  return Number.isFinite(ms) ? `${ms / HOUR_MS} h` : 'as the broker is set';
};

const topicRows = (specs: readonly TopicSpec[]): string[][] =>
  (Object.keys(TOPICS) as TopicName[]).map((name) => {
    const spec = specs.find(({ topic }) => topic === TOPICS[name]);
    if (spec === undefined) throw new Error(`infra/kafka/topics.json lacks ${TOPICS[name]}`);
    const { key, content } = CONTENT[name];
    return [`\`${spec.topic}\``, key, content, String(spec.partitions), keptFor(spec)];
  });

type Field = z.core.JSONSchema._JSONSchema;

const typeOf = (field: Field): string => {
  if (typeof field === 'boolean') return 'any';
  if (field.const !== undefined) return JSON.stringify(field.const);
  if (field.enum !== undefined) return field.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (field.anyOf !== undefined) return field.anyOf.map(typeOf).join(' | ');
  const { items } = field;
  if (field.type === 'array' && items !== undefined && !Array.isArray(items)) return `${typeOf(items)}[]`;
  return [field.type ?? 'any'].flat().join(' | ');
};

const fieldRows = (schema: z.ZodObject): string[][] => {
  const { properties = {}, required = [] } = z.toJSONSchema(schema);
  return Object.entries(properties).map(([name, field]) => [
    `\`${name}\``,
    typeOf(field),
    required.includes(name) ? 'yes' : 'no',
    typeof field === 'boolean' ? '' : (field.description ?? ''),
  ]);
};

export const eventsPage = (topics: readonly TopicSpec[]): string => `${GENERATED_BY}

# Events

## Topics

\`infra/kafka/topics.json\` is what they are created from; brokers must not create topics by themselves. ADCAP_TOPIC_PREFIX goes
before every name. Values are JSON in UTF-8; topics are compressed with gzip, which every client reads.

${markdownTable(['topic', 'key', 'content', 'partitions', 'kept for'], topicRows(topics))}

## NEW_IMPRESSION

A field that is not always there is missing where there is nothing to say, never null.

${markdownTable(['field', 'type', 'always', 'meaning'], fieldRows(impressionEventSchema))}

## AUDIT

A device is named by its tag alone, the one in its Redis keys; no token is ever in a record.

${markdownTable(['field', 'type', 'always', 'meaning'], fieldRows(auditEventSchema))}
`;
