import { epochMs } from '@adcap/contracts';
import { type DecisionReading, StoredFormatError } from '@adcap/redis-windows';
import { waitFor } from '@adcap/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Deadline } from '../../src/adapters/deadline.ts';
import { createGuardedRead, type ReadRequest } from '../../src/adapters/guarded-read.ts';

const READING: DecisionReading = {
  nowMs: epochMs(1_764_500_000_000),
  version: 0,
  views: [],
  isComplete: true,
  reservations: [],
  storedPod: undefined,
};
const REQUEST: ReadRequest = { deviceId: 'd1', breakKey: 'b', sinceMs: 0 };
const LIMIT_MS = 20;

/** A store that works, fails or hangs, and counts how often it was asked. */
const createStore = () => {
  const store = {
    mode: 'works' as 'works' | 'fails' | 'hangs' | 'is unreadable',
    asked: 0,
    read: async (): Promise<DecisionReading> => {
      store.asked += 1;
      if (store.mode === 'hangs') return new Promise<never>(() => undefined);
      if (store.mode === 'fails') throw new Error('ERR something is wrong');
      if (store.mode === 'is unreadable') throw new StoredFormatError('one device is broken');
      return READING;
    },
  };
  const guarded = createGuardedRead(store, LIMIT_MS);
  onTestFinished(() => guarded.close());
  const read = (spanMs = LIMIT_MS) => guarded.read(REQUEST, new Deadline(spanMs));
  const kinds = async (times: number, spanMs?: number): Promise<string[]> => {
    const all = await Promise.all(Array.from({ length: times }, () => read(spanMs)));
    return [...new Set(all.map((one) => (one.kind === 'failed' ? one.reason : one.kind)))];
  };
  return { store, guarded, read, kinds };
};

describe('the guarded read', () => {
  test('opens the circuit after failures, asks nobody meanwhile, and closes it by itself', async () => {
    const { store, guarded, read, kinds } = createStore();
    store.mode = 'fails';
    expect(await kinds(30)).toEqual(['store_error']);
    expect(await kinds(1)).toEqual(['circuit_open']);
    const { asked } = store;
    expect(await kinds(100)).toEqual(['circuit_open']);
    expect(store.asked).toBe(asked);
    expect(guarded.lastFailure()).toBe('store_error: ERR something is wrong');
    store.mode = 'works';
    await waitFor(async () => (await read()).kind === 'read', { what: 'a reading', timeoutMs: 2_000 });
    expect(guarded.lastFailure()).toBeUndefined();
    expect(await kinds(30)).toEqual(['read']);
  });

  test('counts a store that does not answer in time', async () => {
    const { store, kinds } = createStore();
    store.mode = 'hangs';
    expect(await kinds(30)).toEqual(['deadline']);
    expect(await kinds(1)).toEqual(['circuit_open']);
  });

  test('tries a store that is gone again and again, and lets nobody wait for that', async () => {
    const { store, kinds } = createStore();
    store.mode = 'hangs';
    await kinds(30);
    const { asked } = store;
    const seen = new Set<string>();
    await waitFor(
      async () => {
        for (const kind of await kinds(10)) seen.add(kind);
        return store.asked >= asked + 3;
      },
      { what: 'three trials' },
    );
    expect([...seen]).toEqual(['circuit_open']);
    expect(store.asked).toBe(asked + 3);
  });

  test('sees a store return without being asked', async () => {
    const { store, guarded, kinds } = createStore();
    store.mode = 'fails';
    await kinds(30);
    store.mode = 'works';
    await waitFor(() => guarded.lastFailure() === undefined, { what: 'a trial that succeeds' });
    expect(await kinds(1)).toEqual(['read']);
  });

  test('does not count the hurry of a caller', async () => {
    const { store, kinds } = createStore();
    const slow = Promise.withResolvers<void>();
    const { read } = store;
    store.read = async () => {
      await slow.promise;
      return read();
    };
    expect(await kinds(30, 1)).toEqual(['deadline']);
    slow.resolve();
    expect(await kinds(1)).toEqual(['read']);
  });

  test('does not count the broken data of one device', async () => {
    const { store, kinds } = createStore();
    store.mode = 'is unreadable';
    expect(await kinds(30)).toEqual(['store_error']);
    store.mode = 'works';
    expect(await kinds(1)).toEqual(['read']);
  });
});
