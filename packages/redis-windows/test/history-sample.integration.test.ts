import { deviceTag } from '@adcap/identity';
import { test as base, startOwnRedis } from '@adcap/testkit';
import { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import { encodeHistoryRecord } from '../src/history-record.ts';
import { connectRedis, createHistorySample, createKeys, type SampledBatch } from '../src/index.ts';
import { anImpression } from './an-impression.ts';
import { gather } from './gather.ts';
import { quiet } from './stores.ts';

const HALF_WAY = 0.5;

const test = base.extend<{ world: Awaited<ReturnType<typeof openWorld>> }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the fixture's dependencies from this pattern
  world: async ({}, use) => {
    await using server = await startOwnRedis();
    const world = await openWorld(server.address);
    await use(world);
    await world.connection.close();
    world.redis.disconnect();
  },
});

/** A Redis of its own, so that its figures are of this test alone. */
const openWorld = async (url: string) => {
  const connection = connectRedis({ url, name: 'test', logger: quiet, role: 'writer' });
  await connection.whenReady();
  const keys = createKeys('x*:');
  const redis = new Redis(url);
  /** Written as the history writer leaves it; that itself would take a minute for so many. */
  const fill = async (devices: number, impressions: number): Promise<void> => {
    const now = Date.now();
    const writing = redis.pipeline();
    for (let device = 0; device < devices; device += 1) {
      const { history, window } = keys.device(deviceTag(`tv-${device}`));
      const members = Array.from({ length: impressions }, (_, index) => {
        const event = anImpression({ creativeId: `c-${index % 7}`, at: now - 60_000 * index });
        return [event.at, encodeHistoryRecord(event), -1, `guard ${index}`] as const;
      });
      writing.zadd(history, ...members.flat()).set(window, 'some other key');
    }
    await writing.exec();
  };
  const sampleOf = (chance: number) => createHistorySample(connection, { keys, random: () => chance });
  const calls = async (): Promise<Record<string, number>> => {
    const stats = await redis.info('commandstats');
    return Object.fromEntries(
      [...stats.matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)].map(([, name = '', count]) => [
        name,
        Number(count),
      ]),
    );
  };
  return { connection, keys, redis, fill, sampleOf, calls };
};

const never = new AbortController().signal;
const tagsOf = (batches: readonly SampledBatch[]): string[] =>
  batches.flatMap(({ devices }) => devices.map(({ tag }) => tag));

describe('createHistorySample', () => {
  test('every device once where there are no more than wanted, each with what it watched', async ({
    world,
  }) => {
    await world.fill(300, 3);
    const batches = await gather(world.sampleOf(HALF_WAY).random({ devices: 1_000, signal: never }));
    const tags = tagsOf(batches);
    expect([tags.length, new Set(tags).size]).toEqual([300, 300]);
    expect(batches.at(-1)).toMatchObject({ found: 300, share: 1 });
    const { records, unreadable } = batches.flatMap(({ devices }) => devices)[0]?.decode() ?? {};
    expect([records?.length, unreadable]).toEqual([3, 0]);
    expect(records?.map(({ at }) => at)).toEqual(records?.map(({ at }) => at).toSorted((a, b) => a - b));
  });

  test('of many it takes as many as wanted, from where chance says, and guesses how many there are', async ({
    world,
  }) => {
    await world.fill(6_000, 1);
    const drawn = await Promise.all(
      [0.1, 0.7].map((chance) => gather(world.sampleOf(chance).random({ devices: 500, signal: never }))),
    );
    const [one = [], other = []] = drawn.map(tagsOf);
    expect([one.length, other.length]).toEqual([500, 500]);
    // Two places of one table: hardly any device is in both.
    expect(one.filter((tag) => other.includes(tag)).length).toBeLessThan(250);
    for (const batches of drawn) {
      const { found, share } = batches.at(-1) ?? { found: 0, share: 1 };
      expect(share).toBeLessThan(1);
      expect(found / share).toBeGreaterThan(6_000 * 0.7);
      expect(found / share).toBeLessThan(6_000 * 1.4);
    }
  });

  test('asks for no more than it was told: one range a device, a bounded scan, and no KEYS', async ({
    world,
  }) => {
    await world.fill(2_000, 2);
    await world.redis.config('RESETSTAT');
    await gather(world.sampleOf(HALF_WAY).random({ devices: 200, signal: never }));
    const { zrangebyscore, scan = 0, ...others } = await world.calls();
    expect(zrangebyscore).toBe(200);
    // Half of the keys are histories: about 400 of them, at 1,000 keys a step.
    expect(scan).toBeLessThanOrEqual(4);
    expect(Object.keys(others).filter((name) => !['config', 'info'].includes(name))).toEqual([]);
  });

  test('a device with thousands makes the next replies shorter', async ({ world }) => {
    await world.fill(40, 250);
    const batches = await gather(world.sampleOf(HALF_WAY).random({ devices: 40, signal: never }));
    const sizes = batches.map(({ devices }) => devices.length).filter((size) => size > 0);
    expect(sizes).toEqual([16, ...Array.from({ length: 12 }, () => 2)]);
  });

  test('what is no history is passed over, and what cannot be read is counted', async ({ world }) => {
    await world.fill(2, 1);
    await world.redis.set(world.keys.device('a-string').history, 'no history');
    await world.redis.set('x*:{tag}:b:odd}:h', 'no device');
    await world.redis.zadd(world.keys.device(deviceTag('tv-0')).history, 5, '["of another release"]');
    const devices = (await gather(world.sampleOf(HALF_WAY).random({ devices: 10, signal: never }))).flatMap(
      (batch) => batch.devices,
    );
    expect(devices.map((device) => device.decode().unreadable).toSorted((a, b) => a - b)).toEqual([0, 1]);
    expect(devices.map((device) => device.decode().records.length)).toEqual([1, 1]);
  });

  test('named devices are read, those without a history left out', async ({ world }) => {
    await world.fill(3, 2);
    const [tag = ''] = tagsOf(await gather(world.sampleOf(0).random({ devices: 1, signal: never })));
    const read = await gather(world.sampleOf(0).of([tag, 'nobody'], never));
    expect(read.flat().map((device) => [device.tag, device.decode().records.length])).toEqual([[tag, 2]]);
  });

  test('an aborted one asks nothing more', async ({ world }) => {
    await world.fill(300, 1);
    const stop = new AbortController();
    await world.redis.config('RESETSTAT');
    const reading = (async () => {
      for await (const _ of world.sampleOf(0).random({ devices: 300, signal: stop.signal }))
        stop.abort(new Error('gone away'));
    })();
    await expect(reading).rejects.toThrow('gone away');
    expect((await world.calls())['zrangebyscore']).toBe(16);
  });
});
