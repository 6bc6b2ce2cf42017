import type { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { createAppliedOffsets, createDoneMarks, createRulesCache } from '../src/index.ts';
import { anImpression } from './an-impression.ts';
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
    const step = { partition: 3, nextOffset: 9_007_199_254_740_993n, asOfMs: undefined };
    expect(await offsets.write({ ...step, epoch: offsets.epoch() })).toBe(true);
    expect(await offsets.write({ ...step, nextOffset: 8n, epoch: offsets.epoch() + 1 })).toBe(false);
    expect(await offsets.read()).toEqual(new Map([[3, 9_007_199_254_740_993n]]));
  });

  const step = { partition: 0, nextOffset: 5n, asOfMs: undefined };

  test('carry the receive time of the last event: it never goes back, and never lies ahead of the server', async ({
    stores,
    redis,
  }) => {
    const offsets = createAppliedOffsets(stores.connection, stores.keys, 'g');
    const epoch = offsets.epoch();
    const asOf = () => redis.hget(stores.keys.applied('g'), '0:at');
    const now = Date.now();
    const events = [
      anImpression({ at: now, receivedAt: 2_000 }),
      anImpression({ at: now, receivedAt: 3_000 }),
    ];
    await stores.window.applyBatch({ events, applied: { group: 'g', partition: 0, nextOffset: 2n, epoch } });
    expect(await asOf()).toBe('3000');
    await offsets.write({ ...step, asOfMs: 1_000, epoch });
    await offsets.write({ ...step, epoch });
    expect(await asOf()).toBe('3000');
    const before = Date.now();
    await offsets.write({ ...step, asOfMs: before + 86_400_000, epoch });
    expect(Number(await asOf())).toBeLessThan(before + 60_000);
    expect(await offsets.read()).toEqual(new Map([[0, 5n]]));
  });

  test.for<[string, (redis: Redis, key: string) => Promise<unknown>]>([
    ['emptied', (redis, key) => redis.del(key)],
    ['restored from an older copy', (redis, key) => redis.hset(key, '0', '4')],
  ])(
    'of a Redis that was %s under the connection are noticed by the next write, once',
    async ([, lose], { stores, redis }) => {
      const offsets = createAppliedOffsets(stores.connection, stores.keys, 'g');
      const epoch = offsets.epoch();
      await offsets.write({ ...step, epoch });
      await lose(redis, stores.keys.applied('g'));
      const applied = { group: 'g', partition: 0, nextOffset: 6n, epoch };
      const results = await Promise.all([
        stores.window.applyBatch({ events: [anImpression({ at: Date.now() })], applied }),
        stores.window.applyBatch({ events: [anImpression({ at: Date.now() })], applied }),
      ]);
      for (const result of results.flat()) expect(result).toMatchObject({ kind: 'failed', retryable: true });
      expect(offsets.epoch()).toBe(epoch + 1);
      expect((await offsets.read()).get(0)).not.toBe(6n);
      expect(await offsets.write({ ...step, epoch: epoch + 1 })).toBe(true);
    },
  );

  test('of an idle partition are kept fresh by the heartbeat, which notices a loss as well', async ({
    stores,
    redis,
  }) => {
    const offsets = createAppliedOffsets(stores.connection, stores.keys, 'g');
    const epoch = offsets.epoch();
    await offsets.write({ ...step, asOfMs: 1_000, epoch });
    const beat = { asOfMs: 9_000, partitions: 3, caughtUp: [{ partition: 0, nextOffset: 5n }] };
    await offsets.noteCaughtUp({ ...beat, epoch });
    expect(await redis.hgetall(stores.keys.applied('g'))).toEqual({
      '0': '5',
      '0:at': '9000',
      partitions: '3',
    });
    await redis.del(stores.keys.applied('g'));
    await offsets.noteCaughtUp({ ...beat, epoch });
    expect(offsets.epoch()).toBe(epoch + 1);
    expect(await offsets.read()).toEqual(new Map());
  });
});
