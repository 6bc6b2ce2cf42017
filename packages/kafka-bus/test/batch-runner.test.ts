import { describe, expect, test } from 'vitest';
import type { BatchHandler } from '../src/batch-handler.ts';
import { BatchRunner } from '../src/batch-runner.ts';
import type { BusMessage, RawMessage } from '../src/bus-message.ts';
import { deadLetter, drop, type Outcome, ok, retry } from '../src/outcome.ts';
import { ProgressBook } from '../src/progress.ts';
import { quietLogger } from './quiet-logger.ts';

const raw = (offset: bigint, value: string | null): RawMessage => ({
  partition: 0,
  offset,
  timestampMs: 1,
  key: null,
  value: value === null ? null : Buffer.from(value),
  headers: {},
});

const stretch = (...values: (string | null)[]) => ({
  partition: 0,
  messages: values.map((value, index) => raw(BigInt(index), value)),
  fromOffset: 0n,
  nextOffset: BigInt(values.length),
  epoch: 1,
});

const numbers = (applyBatch: BatchHandler<number>['applyBatch']): BatchHandler<number> => ({
  name: 'numbers',
  decode: ({ value }) => {
    const number = Number(JSON.parse(value?.toString() ?? 'null'));
    return value !== null && Number.isInteger(number)
      ? { ok: true, event: number }
      : { ok: false, reason: 'no_number' };
  },
  applyBatch,
});

const bench = (
  handler: BatchHandler<number>,
  options: { undecodable?: boolean; sendFailures?: number } = {},
) => {
  const steps: string[] = [];
  const letters: BusMessage[] = [];
  let sendFailures = options.sendFailures ?? 0;
  const runner = new BatchRunner<number>({
    topic: 't',
    groupId: 'g',
    handler,
    deadLetter: {
      topic: 't.dlq',
      undecodable: options.undecodable ?? true,
      producer: {
        pending: 0,
        isHealthy: () => true,
        close: () => Promise.resolve(),
        send: (_topic, messages) => {
          if (sendFailures > 0) {
            sendFailures -= 1;
            steps.push('send failed');
            return Promise.reject(new Error('away'));
          }
          steps.push('sent');
          letters.push(...messages);
          return Promise.resolve();
        },
      },
    },
    backoff: { initialMs: 1, maxMs: 1 },
    random: () => 0,
    clock: { now: () => 0 },
    logger: quietLogger,
    metrics: {
      batchApplied: () => steps.push('applied'),
      batchRetried: (reason) => steps.push(`retry ${reason}`),
      eventDropped: (reason) => steps.push(`drop ${reason}`),
      messageUndecodable: (reason) => steps.push(`undecodable ${reason}`),
    },
    progress: new ProgressBook(),
  });
  return { runner, steps, letters };
};

const going = { signal: new AbortController().signal, isCurrent: () => true };
const answering = (...answers: Outcome[][]) => {
  const asked: number[][] = [];
  const handler = numbers(({ events }) => {
    asked.push(events.map(({ event }) => event));
    return Promise.resolve(answers.shift() ?? events.map(() => ok));
  });
  return { handler, asked };
};

describe('BatchRunner', () => {
  test('hands over what could be decoded, in order', async () => {
    const { handler, asked } = answering();
    const { runner, steps } = bench(handler);
    expect(await runner.run(stretch('1', '2', '3'), going)).toBe(true);
    expect(asked).toEqual([[1, 2, 3]]);
    expect(steps).toEqual(['applied']);
  });

  test('one retry applies the whole batch again, and nothing is set aside until it works', async () => {
    const { handler, asked } = answering(
      [ok, retry('away'), deadLetter('wrong_type')],
      [ok, ok, deadLetter('wrong_type')],
    );
    const { runner, steps, letters } = bench(handler);
    expect(await runner.run(stretch('1', '2', '3'), going)).toBe(true);
    expect(asked).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    expect(steps).toEqual(['retry away', 'sent', 'applied']);
    expect(
      letters.map(({ headers }) => [
        headers?.['dlq-reason'],
        headers?.['dlq-offset'],
        headers?.['dlq-attempts'],
      ]),
    ).toEqual([['wrong_type', '2', '2']]);
  });

  test('B47 undecodable messages are set aside once, by the group that does so', async () => {
    const { handler, asked } = answering();
    const { runner, letters } = bench(handler);
    expect(await runner.run(stretch('1', 'not json', null, '', '2'), going)).toBe(true);
    expect(asked).toEqual([[1, 2]]);
    expect(
      letters.map(({ headers }) => [headers?.['dlq-step'], headers?.['dlq-reason'], headers?.['dlq-offset']]),
    ).toEqual([
      ['decode', 'decode_threw', '1'],
      ['decode', 'no_number', '2'],
      ['decode', 'decode_threw', '3'],
    ]);
  });

  test('other groups only count them', async () => {
    const { handler } = answering();
    const { runner, letters, steps } = bench(handler, { undecodable: false });
    expect(await runner.run(stretch('1', null), going)).toBe(true);
    expect(letters).toEqual([]);
    expect(steps).toEqual(['undecodable no_number', 'applied']);
  });

  test('a batch of undecodable messages is handed over empty, so that its end can be written as applied', async () => {
    const { handler, asked } = answering();
    const { runner } = bench(handler);
    expect(await runner.run(stretch(null), going)).toBe(true);
    expect(asked).toEqual([[]]);
  });

  test('dead letters that cannot be written are tried again, without applying again', async () => {
    const { handler, asked } = answering([deadLetter('wrong_type')]);
    const { runner, steps } = bench(handler, { sendFailures: 2 });
    expect(await runner.run(stretch('1'), going)).toBe(true);
    expect(asked).toHaveLength(1);
    expect(steps).toEqual(['send failed', 'send failed', 'sent', 'applied']);
  });

  test('a stop ends the retries, and the batch is not done', async () => {
    const stop = new AbortController();
    const handler = numbers(({ events }) => {
      stop.abort();
      return Promise.resolve(events.map(() => retry('away')));
    });
    const { runner } = bench(handler);
    expect(await runner.run(stretch('1'), { signal: stop.signal, isCurrent: () => true })).toBe(false);
  });

  test('a batch whose admission expired while it was applied is not done', async () => {
    let isCurrent = true;
    const handler = numbers(({ events }) => {
      isCurrent = false;
      return Promise.resolve(events.map(() => ok));
    });
    const { runner } = bench(handler);
    expect(await runner.run(stretch('1'), { signal: going.signal, isCurrent: () => isCurrent })).toBe(false);
  });

  test('a throw and a wrong number of outcomes are bugs', async () => {
    const throwing = bench(numbers(() => Promise.reject(new Error('bug'))));
    await expect(throwing.runner.run(stretch('1'), going)).rejects.toThrow('bug');
    const short = bench(numbers(() => Promise.resolve([])));
    await expect(short.runner.run(stretch('1'), going)).rejects.toThrow(
      'numbers answered 0 outcomes for 1 events',
    );
  });

  test('drops are counted', async () => {
    const { handler } = answering([drop('erased')]);
    const { runner, steps } = bench(handler);
    expect(await runner.run(stretch('1'), going)).toBe(true);
    expect(steps).toEqual(['drop erased', 'applied']);
  });
});
