import { expect, test } from 'vitest';
import { createPartitionOf } from '../src/index.ts';

// What every Kafka client does with these keys ('21' and 'foobar' are of Apache's own tests); with anything else an answer
// would be about another partition than its device's.
test.for<[string, number, number]>([
  ['tv-1', 6, 1],
  ['tv-2', 6, 4],
  ['tv-3', 6, 2],
  ['21', 1_000, 340],
  ['foobar', 1_000, 166],
  ['ünïcode', 12, 1],
])('a key goes to the partition that the default partitioner gives it: %s', ([key, partitions, expected]) => {
  expect(createPartitionOf(partitions)(key)).toBe(expected);
});
