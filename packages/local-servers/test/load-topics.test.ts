import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { TOPICS } from '@adcap/contracts';
import { loadTopics } from '@adcap/local-servers';
import { describe, expect, test } from 'vitest';

const HOUR_MS = 3_600_000;

describe('infra/kafka/topics.json', () => {
  test('names the topics that the contracts name', async () => {
    const names = (await loadTopics()).map(({ topic }) => topic);
    expect(names.toSorted()).toEqual(Object.values(TOPICS).toSorted());
  });

  test('has every topic recompressed with gzip, the only compression that every reader here knows', async () => {
    for (const { topic, config } of await loadTopics())
      expect([topic, config['compression.type']]).toEqual([topic, 'gzip']);
  });

  test('keeps impressions 48 h in 12 partitions, and of the rules the latest of each key in one', async () => {
    const byName = new Map((await loadTopics()).map((spec) => [spec.topic, spec]));
    expect(byName.get(TOPICS.impressions)).toMatchObject({
      partitions: 12,
      config: { 'retention.ms': String(48 * HOUR_MS) },
    });
    expect(byName.get(TOPICS.rules)).toMatchObject({
      partitions: 1,
      config: { 'cleanup.policy': 'compact' },
    });
  });
});

test('the container and the jars are one version of Kafka', async () => {
  const read = (file: string): Promise<string> =>
    readFile(path.join(import.meta.dirname, '..', file), 'utf8');
  const ofPom = /<kafka\.version>(.*)</.exec(await read('../../infra/kafka/pom.xml'))?.[1];
  const ofCode = /VERSION = '(.*)'/.exec(await read('src/start-kafka.ts'))?.[1];
  expect(ofPom).toBe(ofCode);
});
