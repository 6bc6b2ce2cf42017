import { createTopics, kafkaAnswers, type LocalServer, loadTopics } from '@adcap/local-servers';
import { startOwnKafka } from '@adcap/testkit';
import { type Admin, ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isListening, isRunning } from './left-behind.ts';

const IMPRESSIONS = 'x.adcap.impressions.v1';

describe('a Kafka of one’s own', () => {
  let server: LocalServer;
  let kafka: Kafka;
  let admin: Admin;

  beforeAll(async () => {
    server = await startOwnKafka();
    kafka = new Kafka({ brokers: [server.address], logLevel: logLevel.NOTHING });
    admin = kafka.admin();
    await admin.connect();
    await createTopics(server.address, await loadTopics(), { prefix: 'x.', partitions: 2 });
  });

  afterAll(async () => {
    await admin.disconnect();
    await server[Symbol.asyncDispose]();
  });

  const partitionsOf = async (topic: string): Promise<number | undefined> =>
    (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0]?.partitions.length;

  test('has the topics of the file, the one-partition one as it is', async () => {
    expect(await admin.listTopics()).toEqual(
      expect.arrayContaining((await loadTopics()).map(({ topic }) => `x.${topic}`)),
    );
    expect(await partitionsOf(IMPRESSIONS)).toBe(2);
    expect(await partitionsOf('x.adcap.rules.v1')).toBe(1);
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: IMPRESSIONS, configNames: ['compression.type'] }],
    });
    expect(resources[0]?.configEntries).toMatchObject([
      { configName: 'compression.type', configValue: 'gzip' },
    ]);
  });

  test('keeps a topic that exists when asked for more of it', async () => {
    await createTopics(server.address, await loadTopics(), { prefix: 'x.', partitions: 5 });
    expect(await partitionsOf(IMPRESSIONS)).toBe(2);
  });

  test('makes no topic that nobody declared', async () => {
    const producer = kafka.producer({ allowAutoTopicCreation: true, retry: { retries: 1 } });
    await producer.connect();
    await expect(producer.send({ topic: 'y', messages: [{ value: 'v' }] })).rejects.toThrow();
    await producer.disconnect();
    expect(await admin.listTopics()).not.toContain('y');
  });

  test('takes a message, gives it back, and has it still after a restart', async () => {
    const producer = kafka.producer();
    await producer.connect();
    await producer.send({ topic: IMPRESSIONS, messages: [{ key: 'd', value: 'v' }] });
    await producer.disconnect();
    await server.restart();
    const consumer = kafka.consumer({ groupId: 'x.group' });
    await consumer.connect();
    await consumer.subscribe({ topic: IMPRESSIONS, fromBeginning: true });
    const { promise, resolve } = Promise.withResolvers<unknown>();
    await consumer.run({
      eachMessage: async ({ message }) => resolve([message.key?.toString(), message.value?.toString()]),
    });
    expect(await promise).toEqual(['d', 'v']);
    await consumer.disconnect();
  });

  test('stop leaves no process and no port', async () => {
    const { pid } = server;
    expect(isRunning(pid)).toBe(server.kind === 'native');
    await server.stop();
    expect(isRunning(pid)).toBe(false);
    expect(await isListening(server.port)).toBe(false);
    await expect(kafkaAnswers(server.address)).rejects.toThrow();
  });
});
