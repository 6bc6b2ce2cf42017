import {
  brokersAnswer,
  createMissingTopics,
  deleteTopics as removeTopics,
  type TopicSpec,
} from '@adcap/kafka-bus';

export type { TopicSpec };

export type TopicOptions = {
  prefix?: string;
  replicationFactor?: number;
  /** Instead of what each topic asks for; the rules topic always has one. */
  partitions?: number;
};

/** Resolves when a broker answers a real request. */
export const kafkaAnswers = (brokers: string): Promise<void> => brokersAnswer(brokers.split(','));

/** Creates the topics that do not exist yet; the others are left as they are. */
export const createTopics = (
  brokers: string,
  topics: readonly TopicSpec[],
  { prefix = '', replicationFactor = 1, partitions }: TopicOptions = {},
): Promise<void> =>
  createMissingTopics(
    brokers.split(','),
    topics.map((spec) => ({
      ...spec,
      topic: `${prefix}${spec.topic}`,
      partitions: spec.partitions === 1 ? 1 : (partitions ?? spec.partitions),
    })),
    replicationFactor,
  );

export const deleteTopics = (brokers: string, topics: readonly string[]): Promise<void> =>
  removeTopics(brokers.split(','), topics);
