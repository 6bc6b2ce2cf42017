import { epochMs } from '@adcap/contracts';
import { anImpression } from '@adcap/impression-consumer/testing';
import { expect, test } from 'vitest';
import { createTrimMemory } from '../../src/domain/trim-memory.ts';
import { createCleanupHandler } from '../../src/handlers/create-cleanup-handler.ts';

const replyError = (message: string): Error => Object.assign(new Error(message), { name: 'ReplyError' });
const wrongType = replyError('WRONGTYPE Operation against a key holding the wrong kind of value');
const readOnly = replyError("READONLY You can't write against a read only replica.");

/** The handler over a cleaner that fails for some devices, and all that it did. */
const someHandler = (faults: Readonly<Record<string, Error>> = {}) => {
  const seen = {
    trims: [] as (readonly string[])[],
    offsets: [] as [number, bigint, number][],
    results: [] as string[],
    refused: 0,
    nowMs: 1_700_000_000_000,
    offsetError: undefined as Error | undefined,
    epoch: 4,
  };
  const handler = createCleanupHandler({
    cleaner: {
      trim: async (deviceIds) => {
        seen.trims.push(deviceIds);
        for (const deviceId of deviceIds) if (faults[deviceId] !== undefined) throw faults[deviceId];
        return { window: 1, history: 1, reservations: 0 };
      },
    },
    offsets: {
      write: async ({ partition, nextOffset, epoch }) => {
        if (seen.offsetError !== undefined) throw seen.offsetError;
        if (epoch !== seen.epoch) return false;
        seen.offsets.push([partition, nextOffset, epoch]);
        return true;
      },
    },
    memory: createTrimMemory({ intervalMs: 60_000 }),
    clock: { nowMs: () => epochMs(seen.nowMs) },
    logger: { warn: () => undefined },
    metrics: { noteResults: (results) => seen.results.push(...results), noteApplied: () => undefined },
    cleanupMetrics: {
      noteFreed: () => undefined,
      noteTrims: (_trimmed, refused) => {
        seen.refused += refused;
      },
    },
  });
  const apply = async (...deviceIds: string[]): Promise<string[]> => {
    const outcomes = await handler.applyBatch({
      topic: 'impressions',
      partition: 2,
      events: deviceIds.map((deviceId, index) => ({
        offset: BigInt(index),
        timestampMs: seen.nowMs,
        event: anImpression({ deviceId }),
      })),
      fromOffset: 0n,
      nextOffset: BigInt(deviceIds.length),
      epoch: 4,
    });
    return outcomes.map(({ kind }) => kind);
  };
  return { apply, seen };
};

test('trims each device of a batch once, and writes the offset in the epoch of the batch', async () => {
  const { apply, seen } = someHandler();
  expect(await apply('a', 'b', 'a')).toEqual(['ok', 'ok', 'ok']);
  expect(seen.trims).toEqual([['a', 'b']]);
  expect(seen.offsets).toEqual([[2, 3n, 4]]);
  expect(seen.results).toEqual(['trimmed', 'trimmed', 'trimmed']);
});

test('trims a device again only after the interval, and moves the offset all the same', async () => {
  const { apply, seen } = someHandler();
  await apply('a');
  await apply('a');
  expect(seen.trims).toEqual([['a']]);
  expect(seen.offsets).toHaveLength(2);
  seen.nowMs += 60_000;
  await apply('a');
  expect(seen.trims).toEqual([['a'], ['a']]);
  expect(seen.results).toEqual(['trimmed', 'not_due', 'trimmed']);
});

test('a device that Redis refuses is dropped, the others are trimmed, and it is not tried at every impression', async () => {
  const { apply, seen } = someHandler({ b: wrongType });
  expect(await apply('a', 'b', 'c')).toEqual(['ok', 'drop', 'ok']);
  expect(seen.trims).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
  expect(seen.offsets).toEqual([[2, 3n, 4]]);
  expect(seen.refused).toBe(1);
  expect(await apply('b')).toEqual(['ok']);
  expect(seen.trims).toHaveLength(4);
});

test.for([
  ['Redis cannot trim now', { b: readOnly }],
  ['one is refused and another cannot be trimmed now', { a: wrongType, c: readOnly }],
] as const)('the batch is tried again, nothing noted, when %s', async ([, faults]) => {
  const { apply, seen } = someHandler(faults);
  expect(await apply('a', 'b', 'c')).toEqual(['retry', 'retry', 'retry']);
  expect(seen.offsets).toEqual([]);
  expect(seen.results).toEqual([]);
  await apply('a', 'b', 'c');
  expect(seen.trims.filter((devices) => devices.length === 3)).toHaveLength(2);
});

test('the batch is tried again when its offset could not be written', async () => {
  const { apply, seen } = someHandler();
  seen.offsetError = new Error('Connection is closed.');
  expect(await apply('a')).toEqual(['retry']);
  seen.offsetError = undefined;
  seen.epoch = 5;
  expect(await apply('a')).toEqual(['retry']);
  expect(seen.results).toEqual([]);
});
