import type { ImpressionEvent } from '@adcap/contracts';
import type { Batch } from '@adcap/kafka-bus';
import type { ApplyResult, ImpressionBatch } from '@adcap/redis-windows';
import { expect, test } from 'vitest';
import { createApplyHandler } from '../src/create-apply-handler.ts';
import { anImpression } from './testing.ts';

/** A handler over a writer that answers as it is told, and what was asked and noted. */
const handlerAnswering = (...results: ApplyResult[]) => {
  const asked: ImpressionBatch[] = [];
  const noted: string[] = [];
  let applied = 0;
  const handler = createApplyHandler({
    name: 'sample',
    groupId: 'g.sample',
    writer: {
      applyBatch: async (batch) => {
        asked.push(batch);
        return results;
      },
    },
    metrics: {
      noteResults: (kinds) => noted.push(...kinds),
      noteApplied: (_partition, events) => {
        applied += events.length;
      },
    },
  });
  return { handler, asked, noted, applied: () => applied };
};

const aBatch = (count: number): Batch<ImpressionEvent> => ({
  topic: 'impressions',
  partition: 3,
  events: Array.from({ length: count }, (_, index) => ({
    offset: BigInt(10 + index),
    timestampMs: 1_700_000_000_000,
    event: anImpression({ deviceId: `tv-${index}` }),
  })),
  fromOffset: 10n,
  nextOffset: 15n,
  epoch: 7,
});

const away = { kind: 'failed', retryable: true, error: new Error('away') } as const;
const wrongType = { kind: 'failed', retryable: false, error: new Error('WRONGTYPE') } as const;

test('createApplyHandler writes in the epoch of the batch and moves the offset behind all of it', async () => {
  const { handler, asked } = handlerAnswering({ kind: 'new' });
  const batch = aBatch(1);
  await handler.applyBatch(batch);
  expect(asked).toStrictEqual([
    {
      events: batch.events.map(({ event }) => event),
      applied: { group: 'g.sample', partition: 3, nextOffset: 15n, epoch: 7 },
    },
  ]);
});

test('createApplyHandler answers event by event: one refusal sets aside that event alone', async () => {
  const { handler, noted, applied } = handlerAnswering({ kind: 'new' }, wrongType, { kind: 'repeat' });
  const outcomes = await handler.applyBatch(aBatch(3));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'deadLetter', 'ok']);
  expect(noted).toEqual(['new', 'failed', 'repeat']);
  expect(applied()).toBe(3);
});

test('createApplyHandler counts of a batch that comes again only what will then be a repeat', async () => {
  const { handler, noted, applied } = handlerAnswering({ kind: 'new' }, away, wrongType, {
    kind: 'expired',
  });
  const outcomes = await handler.applyBatch(aBatch(4));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'retry', 'deadLetter', 'drop']);
  expect(noted).toEqual(['new']);
  expect(applied()).toBe(0);
});

test('createApplyHandler passes on a stretch without events, whose offset has to be written too', async () => {
  const { handler, asked } = handlerAnswering();
  expect(await handler.applyBatch(aBatch(0))).toEqual([]);
  expect(asked[0]?.applied.nextOffset).toBe(15n);
});
