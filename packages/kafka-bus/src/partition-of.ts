import { Partitioners } from 'kafkajs';

const partitioner = Partitioners.DefaultPartitioner();

/** What the partitioner wants to know of a partition; with a key it only counts them. */
const partitionsOf = (count: number) =>
  Array.from({ length: count }, (_, partitionId) => ({
    partitionErrorCode: 0,
    partitionId,
    leader: 0,
    replicas: [],
    isr: [],
  }));

/** The partition that the producer writes a key to, in a topic of so many; the default one of every Kafka client. */
export const createPartitionOf = (partitions: number): ((key: string) => number) => {
  const partitionMetadata = partitionsOf(partitions);
  return (key) => partitioner({ topic: '', partitionMetadata, message: { key, value: null } });
};
