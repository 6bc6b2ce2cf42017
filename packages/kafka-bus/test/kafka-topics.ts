import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type Admin, CompressionCodecs, CompressionTypes, Kafka, logLevel, Partitioners } from 'kafkajs';
import { followCompactedTopic } from '../src/compacted-follower.ts';
import { patchRequestQueueTimer } from '../src/request-queue-timer.ts';
import { createMissingTopics } from '../src/topic-admin.ts';
import { quietLogger } from './quiet-logger.ts';

export type Written = { key: string | null; value: Buffer | null; partition: number; offset: bigint };

const withAdmin = async <Answer>(
  brokers: string,
  work: (admin: Admin) => Promise<Answer>,
): Promise<Answer> => {
  patchRequestQueueTimer();
  const admin = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
};

export const createTopic = (brokers: string, topic: string, partitions = 2): Promise<void> =>
  createMissingTopics([brokers], [{ topic, partitions, config: {} }], 1);

/** Messages that the group has not committed yet. */
export const groupLag = (brokers: string, groupId: string, topic: string): Promise<bigint> =>
  withAdmin(brokers, async (admin) => {
    const ends = await admin.fetchTopicOffsets(topic);
    const [commits] = await admin.fetchOffsets({ groupId, topics: [topic] });
    const committed = new Map(
      commits?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]),
    );
    return ends.reduce((lag, { partition, high, low }) => {
      const offset = committed.get(partition) ?? -1n;
      return lag + BigInt(high) - (offset < 0n ? BigInt(low) : offset);
    }, 0n);
  });

/** Everything that the topic holds now. */
export const readAll = async (brokers: string, topic: string): Promise<Written[]> => {
  const written: Written[] = [];
  const follower = followCompactedTopic({
    bus: { brokers: [brokers], clientId: 'reader', logger: quietLogger },
    topic,
    onRecord: (key, value, { partition, offset }) => written.push({ key, value, partition, offset }),
  });
  await follower.caughtUp;
  await follower.close();
  return written;
};

/** Writes as another producer may, with a codec that the bus does not have. */
export const writeZstd = async (brokers: string, topic: string, value: string): Promise<void> => {
  const codecs = CompressionCodecs;
  const missing = codecs[CompressionTypes.ZSTD];
  codecs[CompressionTypes.ZSTD] = () => ({
    compress: ({ buffer }: { buffer: Buffer }) => Promise.resolve(zstdCompressSync(buffer)),
    decompress: (buffer: Buffer) => Promise.resolve(zstdDecompressSync(buffer)),
  });
  const producer = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING }).producer({
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  await producer.send({ topic, messages: [{ value }], compression: CompressionTypes.ZSTD });
  await producer.disconnect();
  codecs[CompressionTypes.ZSTD] = missing;
};
