import { createServer } from 'node:net';
import { createTopics, freePort, kafkaAnswers, loadTopics } from '@adcap/local-servers';
import { startOwnKafka, startOwnRedis, test, waitFor } from '@adcap/testkit';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { describe, expect } from 'vitest';

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(true));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(false)));
  });

describe('a Redis of one’s own', () => {
  test('keeps its data over a restart and leaves no port behind', async () => {
    const server = await startOwnRedis();
    const client = new Redis(server.address);
    client.on('error', () => undefined);
    await client.set('a', '1');
    await server.stop();
    expect(await isListening(server.port)).toBe(false);
    await server.restart();
    expect(await waitFor(() => client.get('a'), { what: 'the value' })).toBe('1');
    expect(await client.config('GET', 'maxmemory-policy')).toContain('noeviction');
    client.disconnect();
    await server[Symbol.asyncDispose]();
    expect(await isListening(server.port)).toBe(false);
  });

  test('a paused server answers again once it is resumed', async () => {
    await using server = await startOwnRedis();
    const client = new Redis(server.address);
    await client.ping();
    await server.pause();
    let answered = false;
    const pong = client.ping().then(() => {
      answered = true;
    });
    await expect(waitFor(() => answered, { what: 'an answer', timeoutMs: 200 })).rejects.toThrow('an answer');
    await server.resume();
    await pong;
    client.disconnect();
  });

  test('a taken port is refused by its number', async () => {
    const port = await freePort();
    const squatter = createServer();
    await new Promise<void>((resolve) => {
      squatter.listen(port, '127.0.0.1', resolve);
    });
    await expect(startOwnRedis({ port })).rejects.toMatchObject({
      code: 'PORT_TAKEN',
      message: expect.stringContaining(String(port)),
    });
    squatter.close();
  });
});

describe('a Kafka of one’s own', () => {
  test('takes the topics, a message, and leaves no port behind', async () => {
    const server = await startOwnKafka();
    const topics = await loadTopics();
    await createTopics(server.address, topics, { prefix: 'x.', partitions: 2 });
    await createTopics(server.address, topics, { prefix: 'x.', partitions: 2 });
    const kafka = new Kafka({ brokers: [server.address], logLevel: logLevel.NOTHING });
    const producer = kafka.producer();
    await producer.connect();
    const [sent] = await producer.send({
      topic: 'x.adcap.impressions.v1',
      messages: [{ key: 'd', value: 'v' }],
    });
    expect(sent).toMatchObject({ errorCode: 0, baseOffset: '0' });
    await producer.disconnect();
    await server.stop();
    expect(await isListening(server.port)).toBe(false);
    await expect(kafkaAnswers(server.address)).rejects.toThrow();
    await server[Symbol.asyncDispose]();
  });
});
