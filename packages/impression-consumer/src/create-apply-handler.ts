import type { ImpressionEvent } from '@adcap/contracts';
import type { BatchHandler } from '@adcap/kafka-bus';
import type { ApplyResult, ImpressionWriter } from '@adcap/redis-windows';
import type { ConsumerMetrics } from './create-consumer-metrics.ts';
import { decodeImpression } from './decode-impression.ts';
import { outcomeOf } from './outcome-of.ts';

const isRetried = (result: ApplyResult): boolean => result.kind === 'failed' && result.retryable;

/** The handler of a consumer that writes every impression of its partitions to a store, with the applied offset. */
export const createApplyHandler = (deps: {
  name: string;
  groupId: string;
  writer: ImpressionWriter;
  metrics: Pick<ConsumerMetrics, 'noteResults' | 'noteApplied'>;
}): BatchHandler<ImpressionEvent> => {
  const { name, groupId, writer, metrics } = deps;
  return {
    name,
    decode: decodeImpression,
    applyBatch: async function applyImpressions({ events, partition, nextOffset, epoch }) {
      const results = await writer.applyBatch({
        events: events.map(({ event }) => event),
        applied: { group: groupId, partition, nextOffset, epoch },
      });
      if (results.some(isRetried)) {
        // The whole batch comes again, and then these are repeats.
        metrics.noteResults(results.filter(({ kind }) => kind === 'new').map(({ kind }) => kind));
      } else {
        metrics.noteResults(results.map(({ kind }) => kind));
        metrics.noteApplied(partition, events);
      }
      return results.map(outcomeOf);
    },
  };
};
