import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TopicSpec } from './kafka-admin.ts';

const FILE = path.resolve(import.meta.dirname, '../../../infra/kafka/topics.json');

/** The topics of the suite as infra/kafka/topics.json writes them. */
export const loadTopics = async (): Promise<TopicSpec[]> => JSON.parse(await readFile(FILE, 'utf8'));
