import type { ImpressionEvent } from '@adcap/contracts';
import { deviceTag } from '@adcap/identity';
import { advanceOffset } from './advance-offset.ts';
import { type ApplyResult, applyResultOf, failedResult, isRetryable } from './apply-result.ts';
import type { DeviceKeys, Keys } from './keys.ts';
import { inOneWrite, type RedisConnection } from './redis-connection.ts';

/** Consecutive impressions of one partition, and the offset after them. */
export type ImpressionBatch = {
  events: readonly ImpressionEvent[];
  applied: {
    group: string;
    partition: number;
    nextOffset: bigint;
    /** The epoch of the connection in which the partition was positioned; nothing is written in any other. */
    epoch: number;
  };
};

export type ImpressionWriter = {
  /**
   * Applies a batch and returns one result an event, in their order. Failure policy: never throws. What one device meets
   * is in the results of its events and stops no other device; the applied offset moves only when nothing is left to
   * retry, and where it could not be moved every event is to be retried. Applying twice equals applying once.
   */
  applyBatch(batch: ImpressionBatch): Promise<ApplyResult[]>;
};

/** Runs the script of a store for some impressions of one device. */
export type ApplyToDevice = (keys: DeviceKeys, events: readonly ImpressionEvent[]) => Promise<number[]>;

/** A device that sends thousands at once gets several calls: no script may hold up the others for long. */
const EVENTS_PER_CALL = 128;

const OTHER_EPOCH = 'Redis was reconnected or emptied since the partition was positioned';

type Placed = { event: ImpressionEvent; index: number };

const byDevice = (events: readonly ImpressionEvent[]): readonly (readonly Placed[])[] => {
  const groups = new Map<string, Placed[]>();
  for (const [index, event] of events.entries()) {
    const group = groups.get(event.deviceId);
    if (group === undefined) groups.set(event.deviceId, [{ event, index }]);
    else group.push({ event, index });
  }
  return [...groups.values()];
};

const inCalls = (group: readonly Placed[]): (readonly Placed[])[] => {
  const calls: (readonly Placed[])[] = [];
  for (let from = 0; from < group.length; from += EVENTS_PER_CALL)
    calls.push(group.slice(from, from + EVENTS_PER_CALL));
  return calls;
};

export const createImpressionWriter = (
  connection: RedisConnection,
  keys: Keys,
  applyToDevice: ApplyToDevice,
): ImpressionWriter => {
  const applyCall = async (call: readonly Placed[], results: ApplyResult[]): Promise<void> => {
    const device = call[0]?.event.deviceId ?? '';
    try {
      const codes = await applyToDevice(
        keys.device(deviceTag(device)),
        call.map(({ event }) => event),
      );
      for (const [position, { index }] of call.entries()) results[index] = applyResultOf(codes[position]);
    } catch (error) {
      for (const { index } of call) results[index] = failedResult(error);
    }
  };

  return {
    applyBatch: async ({ events, applied }) => {
      const retryAll = (error: unknown): ApplyResult[] =>
        events.map(() => ({ kind: 'failed', retryable: true, error }));
      const isOtherEpoch = (): boolean => connection.epoch() !== applied.epoch;
      if (isOtherEpoch()) return retryAll(new Error(OTHER_EPOCH));

      const results: ApplyResult[] = [];
      const calls = byDevice(events).flatMap(inCalls);
      // 1. One script call a device, all leaving together. A crash after some of them: they are applied and the offset
      //    is not, so they are read again and are repeats.
      await inOneWrite(connection, () => Promise.all(calls.map((call) => applyCall(call, results))));
      if (results.some(isRetryable)) return results;
      // 2. The applied offset, on the same connection and only now: in one write with the data, a device that was
      //    refused (OOM, READONLY) would lie before the offset and never be read again. A crash before it: as above. A
      //    Redis that comes back older has lost the end of both, never the data alone; one that came back between the
      //    two has another epoch, and there the offset would hide what it lost. One that lost its data under this very
      //    connection does not have the offset that was written last, and refuses this one.
      if (isOtherEpoch()) return retryAll(new Error(OTHER_EPOCH));
      const { group, ...step } = applied;
      const asOfMs = events.at(-1)?.receivedAt;
      try {
        const isMoved = await advanceOffset(connection, keys.applied(group), { ...step, asOfMs });
        return isMoved ? results : retryAll(new Error(OTHER_EPOCH));
      } catch (error) {
        return retryAll(error);
      }
    },
  };
};
