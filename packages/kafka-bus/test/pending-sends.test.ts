import { describe, expect, test, vi } from 'vitest';
import { BusOverloaded, BusUnavailable } from '../src/bus-errors.ts';
import { PendingSends } from '../src/pending-sends.ts';

const some = (count: number, bytes = 10): { key: null; value: string }[] =>
  Array.from({ length: count }, () => ({ key: null, value: 'x'.repeat(bytes) }));

const never = (): undefined => undefined;

describe('PendingSends', () => {
  test('refuses at once what would be too many, and takes it when others are done', async () => {
    const sends = new PendingSends({ maxMessages: 5, maxBytes: 1_000_000 }, 60_000);
    const first = sends.add(some(3), 1_000, never);
    expect(() => sends.add(some(3), 1_000, never)).toThrow(BusOverloaded);
    expect(sends.messages).toBe(3);
    first.settle();
    await sends.drained();
    sends.add(some(3), 1_000, never).settle();
    await sends.drained();
    expect(sends.messages).toBe(0);
  });

  test('bounds bytes as well', () => {
    const sends = new PendingSends({ maxMessages: 1_000, maxBytes: 5_000 }, 60_000);
    expect(() => sends.add(some(1, 6_000), 1_000, never)).toThrow(BusOverloaded);
  });

  test('a deadline that passes rejects with the last known cause and lets the messages go', async () => {
    vi.useFakeTimers();
    const cause = new Error('ECONNREFUSED');
    const sends = new PendingSends({ maxMessages: 5, maxBytes: 1_000_000 }, 5_000);
    const send = sends.add(some(3), 1_000, () => cause);
    const settled = send.promise.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(send.isSettled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    vi.useRealTimers();
    const error = await settled;
    expect(error).toBeInstanceOf(BusUnavailable);
    expect(error).toMatchObject({ cause, retryable: true });
    expect(send.chunks.flatMap((chunk) => chunk.messages)).toEqual([]);
    expect(sends.messages).toBe(0);
  });

  test('cuts a large call into chunks in order, and settles when all are acknowledged', async () => {
    const sends = new PendingSends({ maxMessages: 1_000, maxBytes: 1_000_000 }, 60_000);
    const messages = Array.from({ length: 10 }, (_, index) => ({
      key: String(index),
      value: 'x'.repeat(300),
    }));
    const send = sends.add(messages, 1_000, never);
    expect(send.chunks.map((chunk) => chunk.messages.length)).toEqual([2, 2, 2, 2, 2]);
    expect(send.chunks.flatMap((chunk) => chunk.messages)).toEqual(messages);
    for (const chunk of send.chunks.slice(1)) chunk.send.chunkAcknowledged();
    expect(send.isSettled).toBe(false);
    send.chunkAcknowledged();
    await send.promise;
  });

  test('a message larger than a chunk goes alone', () => {
    const sends = new PendingSends({ maxMessages: 10, maxBytes: 1_000_000 }, 60_000);
    const send = sends.add([...some(1), ...some(1, 5_000), ...some(1)], 1_000, never);
    expect(send.chunks.map((chunk) => chunk.messages.length)).toEqual([1, 1, 1]);
    send.settle();
  });
});
