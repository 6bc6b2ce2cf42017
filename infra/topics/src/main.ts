import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createMissingTopics, type TopicSpec } from '@adcap/kafka-bus';

/*
 * Creates the topics that are missing and ends: once after Kafka is up, and again after a release that adds one. Topics that exist are
 * left as they are.
 */

const FILE = path.resolve(import.meta.dirname, '../../kafka/topics.json');
const brokers = (process.env['KAFKA_BROKERS'] ?? '127.0.0.1:9092').split(',');
const prefix = process.env['ADCAP_TOPIC_PREFIX'] ?? '';
const replicationFactor = Number(process.env['ADCAP_TOPICS_REPLICATION_FACTOR'] ?? '1');

const topics: TopicSpec[] = JSON.parse(await readFile(FILE, 'utf8'));
const named = topics.map((spec) => ({ ...spec, topic: `${prefix}${spec.topic}` }));

try {
  await createMissingTopics(brokers, named, replicationFactor);
  process.stdout.write(`topics: ${named.map(({ topic }) => topic).join(', ')}\n`);
} catch (error) {
  process.stderr.write(`topics: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
