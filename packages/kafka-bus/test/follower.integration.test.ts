import { test, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { followCompactedTopic } from '../src/compacted-follower.ts';
import { createProducer } from '../src/producer.ts';
import { createTopic } from './kafka-topics.ts';
import { quietLogger } from './quiet-logger.ts';

describe('followCompactedTopic', () => {
  test('reads what is there, says so, and then follows live within a second', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const topic = `${topicPrefix}rules`;
    await createTopic(kafkaBrokers, topic, 1);
    const bus = { brokers: [kafkaBrokers], clientId: 'test', logger: quietLogger };
    const producer = createProducer({ bus, topics: [topic] });
    await producer.send(topic, [
      { key: 'v1', value: 'one' },
      { key: 'current', value: 'one' },
    ]);
    const seen: string[] = [];
    const follower = followCompactedTopic({
      bus,
      topic,
      onRecord: (key, value) => seen.push(`${key}=${value?.toString()}`),
      onCaughtUp: () => seen.push('caught up'),
    });
    await follower.caughtUp;
    expect(seen).toEqual(['v1=one', 'current=one', 'caught up']);
    expect(follower.isHealthy()).toBe(true);
    await producer.send(topic, [
      { key: 'current', value: 'two' },
      { key: 'v1', value: null },
    ]);
    await waitFor(() => seen.length === 5, { what: 'the live records', timeoutMs: 1_000 });
    expect(seen.slice(3)).toEqual(['current=two', 'v1=undefined']);
    await follower.close();
    await producer.close();
  });

  test('ends when it is closed before it has reached the topic', async ({ kafkaBrokers, topicPrefix }) => {
    const topic = `${topicPrefix}rules`;
    await createTopic(kafkaBrokers, topic, 1);
    const bus = { brokers: [kafkaBrokers], clientId: 'test', logger: quietLogger };
    // Several, because it depends on how the brokers' answer and the closing meet.
    let ended = 0;
    for (let opened = 0; opened < 16; opened += 1) {
      const follower = followCompactedTopic({ bus, topic, onRecord: () => {} });
      void follower.close().then(() => {
        ended += 1;
      });
    }
    await waitFor(() => ended === 16, { what: 'every follower has ended' });
  });

  test('an empty topic is caught up with at once, and every instance sees everything', async ({
    kafkaBrokers,
    topicPrefix,
  }) => {
    const topic = `${topicPrefix}rules`;
    await createTopic(kafkaBrokers, topic, 2);
    const bus = { brokers: [kafkaBrokers], clientId: 'test', logger: quietLogger };
    const seen: string[][] = [[], []];
    const followers = seen.map((mine) =>
      followCompactedTopic({
        bus,
        topic,
        onRecord: (key) => {
          mine.push(String(key));
          throw new Error('a record that cannot be taken in hides no later one');
        },
      }),
    );
    await Promise.all(followers.map((follower) => follower.caughtUp));
    const producer = createProducer({ bus, topics: [topic] });
    await producer.send(
      topic,
      ['a', 'b', 'c'].map((key) => ({ key, value: key })),
    );
    await waitFor(() => seen.every((mine) => mine.length === 3), { what: 'both to see all' });
    expect(seen.map((mine) => mine.toSorted((one, other) => one.localeCompare(other)))).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
    await Promise.all(followers.map((follower) => follower.close()));
    await producer.close();
  });
});
