import type { Admin } from 'kafkajs';
import type { BusSettings } from './bus-settings.ts';
import { createKafkaClient, type KafkaClient } from './kafka-client.ts';

/** The first offset that a partition still has, and the one that its next message gets. */
export type PartitionEnds = { low: bigint; high: bigint };

/** What is known of a topic and one group; a partition without a commit is absent from `committed`. */
export type GroupOffsets = {
  ends: ReadonlyMap<number, PartitionEnds>;
  committed: ReadonlyMap<number, bigint>;
};

const REQUEST_TIMEOUT_MS = 5_000;

/** Asks the brokers about offsets, over a connection of its own that is made when needed and dropped on any error. */
export class TopicOffsets {
  readonly #bus: BusSettings;
  #connection: Promise<{ client: KafkaClient; admin: Admin }> | undefined;

  constructor(bus: BusSettings) {
    this.#bus = bus;
  }

  async ends(topic: string): Promise<Map<number, PartitionEnds>> {
    return this.#ask((admin) => fetchEnds(admin, topic));
  }

  async ofGroup(groupId: string, topic: string): Promise<GroupOffsets> {
    // One after the other: only the first makes a new connection learn who the brokers are.
    return this.#ask(async (admin) => ({
      ends: await fetchEnds(admin, topic),
      committed: await fetchCommitted(admin, groupId, topic),
    }));
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.then(disconnect, () => {});
  }

  async #ask<Answer>(question: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    this.#connection ??= this.#connect();
    const connection = this.#connection;
    try {
      return await question((await connection).admin);
    } catch (error) {
      if (this.#connection === connection) this.#connection = undefined;
      void connection.then(disconnect, () => {});
      throw error;
    }
  }

  async #connect(): Promise<{ client: KafkaClient; admin: Admin }> {
    const client = createKafkaClient({
      ...this.#bus,
      retry: { retries: 0 },
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    const admin = client.kafka.admin();
    try {
      await admin.connect();
      return { client, admin };
    } catch (error) {
      await disconnect({ client, admin });
      throw error;
    }
  }
}

const disconnect = async ({ client, admin }: { client: KafkaClient; admin: Admin }): Promise<void> => {
  client.destroySockets();
  await admin.disconnect().catch(() => {});
};

const fetchEnds = async (admin: Admin, topic: string): Promise<Map<number, PartitionEnds>> => {
  const partitions = await admin.fetchTopicOffsets(topic);
  return new Map(
    partitions.map(({ partition, low, high }) => [partition, { low: BigInt(low), high: BigInt(high) }]),
  );
};

const fetchCommitted = async (admin: Admin, groupId: string, topic: string): Promise<Map<number, bigint>> => {
  const topics = await admin.fetchOffsets({ groupId, topics: [topic] });
  const partitions = topics.find((entry) => entry.topic === topic)?.partitions ?? [];
  return new Map(
    partitions
      .map(({ partition, offset }): [number, bigint] => [partition, BigInt(offset)])
      // kafkajs writes -1 and -2 for "none" and "earliest".
      .filter(([, offset]) => offset >= 0n),
  );
};
