import type { ImpressionEvent } from '@adcap/contracts';
import { type ConsumerMetrics, decodeImpression } from '@adcap/impression-consumer';
import { type Batch, type BatchHandler, drop, type Outcome, ok, retry } from '@adcap/kafka-bus';
import type { AppliedOffsets, Cleaner } from '@adcap/redis-windows';
import type { Clock, Logger } from '@adcap/service-runtime';
import type { TrimMemory } from '../domain/trim-memory.ts';
import type { CleanupMetrics } from '../metrics.ts';
import { trimDevices } from '../trim-devices.ts';

type Deps = {
  cleaner: Pick<Cleaner, 'trim'>;
  offsets: Pick<AppliedOffsets, 'write'>;
  memory: TrimMemory;
  clock: Clock;
  logger: Pick<Logger, 'warn'>;
  metrics: Pick<ConsumerMetrics, 'noteResults' | 'noteApplied'>;
  cleanupMetrics: Pick<CleanupMetrics, 'noteFreed' | 'noteTrims'>;
};

const OTHER_EPOCH = 'Redis was reconnected or emptied since the partition was positioned';

/** Why the applied offset could not be moved; undefined when it was. */
const moveOffset = async (
  offsets: Deps['offsets'],
  { partition, nextOffset, epoch, events }: Batch<ImpressionEvent>,
): Promise<unknown> => {
  const asOfMs = events.at(-1)?.event.receivedAt;
  try {
    return (await offsets.write({ partition, nextOffset, asOfMs, epoch }))
      ? undefined
      : new Error(OTHER_EPOCH);
  } catch (error) {
    return error;
  }
};

/**
 * Trims the devices that watch, each when it is due. An impression is only the occasion: one whose device cannot be
 * trimmed is dropped, as nothing of it is lost by that.
 */
export const createCleanupHandler = (deps: Deps): BatchHandler<ImpressionEvent> => {
  const { cleaner, offsets, memory, clock, logger, metrics, cleanupMetrics } = deps;

  /** The devices that were due, with the error of those that were refused; or what to try again for. */
  const trimDue = async (deviceIds: readonly string[]) => {
    const nowMs = clock.nowMs();
    const due = memory.due(deviceIds, nowMs);
    const trimmed = await trimDevices(cleaner, due, nowMs);
    if (trimmed.kind === 'retry') return trimmed;
    // Refused ones too: they are looked at again after the interval, when somebody may have mended them.
    memory.noteTrimmed(due, nowMs);
    cleanupMetrics.noteFreed(trimmed.freed);
    cleanupMetrics.noteTrims(due.length - trimmed.refused.size, trimmed.refused.size);
    const [err] = trimmed.refused.values();
    if (err !== undefined) logger.warn({ err, devices: trimmed.refused.size }, 'devices cannot be trimmed');
    return { kind: 'done' as const, due: new Set(due), refused: trimmed.refused };
  };

  return {
    name: 'cleanup',
    decode: decodeImpression,
    applyBatch: async function cleanUp(batch) {
      const { events, partition } = batch;
      const retryAll = (cause: unknown): Outcome[] => events.map(() => retry('store', cause));
      // 1. Trimmed. A crash after it: trimmed again, for nothing.
      const trimmed = await trimDue(events.map(({ event }) => event.deviceId));
      if (trimmed.kind === 'retry') return retryAll(trimmed.cause);
      // 2. The applied offset. A crash after it: nothing is left to do.
      const failure = await moveOffset(offsets, batch);
      if (failure !== undefined) return retryAll(failure);
      metrics.noteApplied(partition, events);
      const results = events.map(({ event: { deviceId } }) => {
        if (trimmed.refused.has(deviceId)) return 'refused';
        return trimmed.due.has(deviceId) ? 'trimmed' : 'not_due';
      });
      metrics.noteResults(results);
      return results.map((result) => (result === 'refused' ? drop('store_refused') : ok));
    },
  };
};
