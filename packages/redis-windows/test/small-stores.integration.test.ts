import { describe, expect } from 'vitest';
import { createAppliedOffsets, createDoneMarks, createRulesCache } from '../src/index.ts';
import { apply, test } from './stores.ts';

describe('done marks', () => {
  const items = [
    { deviceId: 'tv-1', markKey: 'AAAAAAAAAAA' },
    { deviceId: 'tv-1', markKey: 'BBBBBBBBBBB' },
    { deviceId: 'tv-2', markKey: 'AAAAAAAAAAA' },
  ];

  test('are found by device and key, in the order of the questions', async ({ stores }) => {
    const marks = createDoneMarks(stores.connection, stores.keys);
    expect(await marks.lookup(items)).toEqual([undefined, undefined, undefined]);
    await marks.mark([{ deviceId: 'tv-1', markKey: 'BBBBBBBBBBB', at: 1_764_550_000_123 }]);
    expect(await marks.lookup(items)).toEqual([undefined, 1_764_550_000_123, undefined]);
  });

  test('hold the latest impression told, for two minutes', async ({ stores, redis }) => {
    const marks = createDoneMarks(stores.connection, stores.keys);
    const [item] = items;
    if (item === undefined) throw new Error('no item');
    await marks.mark([{ ...item, at: 1_764_550_000_000 }]);
    await marks.mark([{ ...item, at: 1_764_550_030_000 }]);
    expect(await marks.lookup([item])).toEqual([1_764_550_030_000]);
    const ttlMs = await redis.pttl(stores.deviceKeys('tv-1').done(item.markKey));
    expect(ttlMs).toBeGreaterThan(110_000);
    expect(ttlMs).toBeLessThanOrEqual(120_000);
  });

  test('of nothing are nothing', async ({ stores }) => {
    const marks = createDoneMarks(stores.connection, stores.keys);
    await marks.mark([]);
    expect(await marks.lookup([])).toEqual([]);
  });
});

describe('the rules cache', () => {
  test('is empty at first, and takes the first version once', async ({ stores }) => {
    const rules = createRulesCache(stores.connection, stores.keys);
    expect(await rules.load()).toBeUndefined();
    expect(await rules.compareAndSet(1, 2, '{}')).toBe(false);
    expect(await rules.compareAndSet(null, 1, '{"a":"ü"}')).toBe(true);
    expect(await rules.compareAndSet(null, 1, '{}')).toBe(false);
    expect(await rules.load()).toEqual({ version: 1, json: '{"a":"ü"}' });
  });

  test('lets one of two writers win that read the same version', async ({ stores, redis }) => {
    const rules = createRulesCache(stores.connection, stores.keys);
    await rules.compareAndSet(null, 1, '{}');
    await redis.script('FLUSH');
    const outcomes = await Promise.all(
      ['{"by":"a"}', '{"by":"b"}'].map((json) => rules.compareAndSet(1, 2, json)),
    );
    expect(outcomes).toEqual([true, false]);
    expect(await rules.load()).toEqual({ version: 2, json: '{"by":"a"}' });
    expect(await rules.compareAndSet(1, 3, '{}')).toBe(false);
  });
});

describe('applied offsets', () => {
  test('are none at first, then those of the last batch of each partition of the group', async ({
    stores,
  }) => {
    const offsets = createAppliedOffsets(stores.connection, stores.keys, 'g');
    expect(await offsets.read()).toEqual(new Map());
    const epoch = offsets.epoch();
    for (const [partition, nextOffset] of [
      [0, 5n],
      [11, 9_007_199_254_740_993n],
      [0, 6n],
    ] as const)
      await stores.window.applyBatch({ events: [], applied: { group: 'g', partition, nextOffset, epoch } });
    await apply(stores.window, stores.connection, []);
    expect(await offsets.read()).toEqual(
      new Map([
        [0, 6n],
        [11, 9_007_199_254_740_993n],
      ]),
    );
  });

  test('are moved by a consumer of its own kind in the epoch of its position alone', async ({ stores }) => {
    const offsets = createAppliedOffsets(stores.connection, stores.keys, 'g');
    expect(await offsets.write(3, 9_007_199_254_740_993n, offsets.epoch())).toBe(true);
    expect(await offsets.write(3, 8n, offsets.epoch() + 1)).toBe(false);
    expect(await offsets.read()).toEqual(new Map([[3, 9_007_199_254_740_993n]]));
  });
});
