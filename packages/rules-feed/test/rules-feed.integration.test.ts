import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { aRecord, aRule, capOf, NOWHERE, test } from './feed-fixtures.ts';

describe('the rules feed', () => {
  test('has what the topic held before it came, and a live change within 2 s', async ({ world }) => {
    await world.publish(aRecord(1));
    await world.publish(aRecord(2));
    await using feed = world.open({ cache: world.noCache });
    await feed.started;
    await waitFor(() => feed.version() === 2, { what: 'the last version of the topic' });
    expect(capOf(feed)).toBe(2);
    expect(feed.source()).toBe('bus');

    const seen: number[] = [];
    const stop = feed.onChange(({ record }) => void seen.push(record.version));
    await waitFor(() => feed.isLive(), { what: 'the feed to be live' });
    await world.publish(aRecord(3));
    await waitFor(() => feed.version() === 3, { what: 'the live change', timeoutMs: 2_000 });
    expect(capOf(feed)).toBe(3);
    expect(feed.record()).toEqual(aRecord(3));
    expect(seen).toEqual([3]);

    stop();
    await world.publish(aRecord(4));
    await waitFor(() => feed.version() === 4, { what: 'the next live change' });
    expect(seen).toEqual([3]);
  });

  test('refuses wrong rules, what a newer release wrote and what is no record, and keeps the set', async ({
    world,
  }) => {
    await world.publish(aRecord(5));
    await using feed = world.open();
    await waitFor(() => feed.version() === 5, { what: 'the good set' });
    await world.publish(aRecord(6, { rules: [aRule({ id: 'too-long', limit: { max: 1, window: '2d' } })] }));
    await world.publish({ ...aRecord(7), schema: 2, somethingNew: true });
    await world.publish({ ...aRecord(8), rules: [{ ...aRule(), limit: { max: 0, window: '60m' } }] });
    await world.publish('nonsense');
    await waitFor(() => world.log.errors().length === 4, { what: 'four refusals' });
    expect(feed.refusals()).toEqual({ not_json: 0, wrong_rules: 1, newer_schema: 1, not_a_record: 2 });
    expect(feed.refused()).toMatchObject({ reason: 'not_a_record', source: 'bus', version: undefined });
    expect(feed.version()).toBe(5);
    expect(capOf(feed)).toBe(5);
    const errors = world.log.errors().map(({ bindings }) => bindings);
    expect(errors[0]).toMatchObject({
      reason: 'wrong_rules',
      kept: 5,
      detail: expect.stringContaining('rule too-long, limit.window'),
    });
    expect(errors.map((error) => Reflect.get(error, 'reason'))).toEqual([
      'wrong_rules',
      'newer_schema',
      'not_a_record',
      'not_a_record',
    ]);
    expect(errors[1]).toMatchObject({ version: 7 });

    await world.publish(aRecord(9));
    await waitFor(() => feed.version() === 9, { what: 'the next good set' });
    expect(feed.refused()).toBeUndefined();
  });

  test('never goes back to a lower version', async ({ world }) => {
    await world.publish(aRecord(5));
    await using feed = world.open();
    await waitFor(() => feed.version() === 5, { what: 'version 5' });
    const seen: number[] = [];
    feed.onChange(({ record }) => void seen.push(record.version));
    await world.publish(aRecord(4));
    await world.publish(aRecord(6));
    await waitFor(() => feed.version() === 6, { what: 'version 6' });
    expect(seen).toEqual([6]);
  });

  test('takes the topic’s word over Redis’s for one version', async ({ world }) => {
    const other = aRecord(3, { rules: [aRule({ limit: { max: 99, window: '60m' } })] });
    await world.cache.compareAndSet(null, 3, JSON.stringify(other));
    await world.publish(aRecord(3));
    await using feed = world.open();
    await waitFor(() => feed.source() === 'bus', { what: 'the set of the topic' });
    expect(capOf(feed)).toBe(3);
  });

  test('knows what was in force at an instant, from the versions that the topic keeps', async ({ world }) => {
    const since = (version: number) => 1_764_550_000_000 + version * 60_000;
    const version = (n: number) => aRecord(n, { publishedAt: since(n) });
    await world.publishVersion(version(1));
    await world.publishVersion(version(2));
    const nowMs = () => since(9);
    await using feed = world.open({ nowMs });
    await using forgetful = world.open();
    await waitFor(() => feed.version() === 2 && forgetful.version() === 2, { what: 'version 2' });
    const inForce = (of: typeof feed, at: number) => of.inForceAt(at)?.version;
    expect([since(1) - 1, since(1), since(2) - 1, since(2)].map((at) => inForce(feed, at))).toEqual([
      undefined,
      1,
      1,
      2,
    ]);
    expect([since(2) - 1, since(2)].map((at) => inForce(forgetful, at))).toEqual([undefined, 2]);

    // A live change, and one that this process refuses: what it decides by stays in force.
    await world.publishVersion(version(3));
    await waitFor(() => feed.version() === 3, { what: 'version 3' });
    await world.publishVersion({ ...version(4), rules: [aRule({ limit: { max: 1, window: '2d' } })] });
    await waitFor(() => world.log.errors().length > 0, { what: 'the refusal' });
    expect([since(3) - 1, since(3), since(5)].map((at) => inForce(feed, at))).toEqual([2, 3, 3]);
    await world.publishVersion(version(5));
    await waitFor(() => feed.version() === 5, { what: 'version 5' });
    expect([since(3), since(4), since(5)].map((at) => inForce(feed, at))).toEqual([3, undefined, 5]);
  });

  test('with Redis or a file alone it knows the set in force, from when it can have been', async ({
    world,
  }) => {
    await world.cache.compareAndSet(null, 7, JSON.stringify(aRecord(7, { publishedAt: 5_000 })));
    const away = { bus: { ...world.bus, brokers: [NOWHERE] }, startLimitMs: 200 };
    await using feed = world.open({ ...away, nowMs: () => 9_000 });
    await feed.started;
    expect([feed.inForceAt(4_999), feed.inForceAt(5_000)?.version]).toEqual([undefined, 7]);
    const folder = await mkdtemp(path.join(tmpdir(), 'adcap-rules-'));
    const file = path.join(folder, 'rules.yaml');
    await writeFile(file, 'rules:\n  - { id: a, dimension: creative, limit: { max: 4, window: 60m } }\n');
    await using fromFile = world.open({ ...away, cache: world.noCache, file, nowMs: () => 9_000 });
    await fromFile.started;
    expect([fromFile.inForceAt(8_999), fromFile.inForceAt(9_000)?.version]).toEqual([undefined, 0]);
    await rm(folder, { recursive: true });
  });

  test('with Kafka away it starts from Redis at once and follows Redis', async ({ world }) => {
    await world.cache.compareAndSet(null, 7, JSON.stringify(aRecord(7)));
    await using feed = world.open({ bus: { ...world.bus, brokers: [NOWHERE] } });
    await feed.started;
    expect([feed.version(), feed.source(), feed.isLive()]).toEqual([7, 'redis', false]);
    await world.cache.compareAndSet(7, 8, JSON.stringify(aRecord(8)));
    await waitFor(() => feed.version() === 8, { what: 'the change in Redis' });
  });

  test('says once that the set in Redis is refused, and only reads', async ({ world, redis, keyPrefix }) => {
    await world.cache.compareAndSet(null, 7, JSON.stringify({ ...aRecord(7), schema: 9 }));
    const before = await redis.dump(`${keyPrefix}rules`);
    let looks = 0;
    const cache = {
      load: () => {
        looks += 1;
        return world.cache.load();
      },
    };
    await using feed = world.open({ cache, bus: { ...world.bus, brokers: [NOWHERE] }, startLimitMs: 50 });
    await feed.started;
    await waitFor(() => looks >= 3, { what: 'three looks into Redis' });
    expect(world.log.errors()).toHaveLength(1);
    expect(feed.version()).toBeNull();
    expect(await redis.dump(`${keyPrefix}rules`)).toEqual(before);
    expect(await redis.keys(`${keyPrefix}*`)).toEqual([`${keyPrefix}rules`]);
  });

  test('with both empty it starts without rules, and takes the first ones when they come', async ({
    world,
  }) => {
    await using feed = world.open();
    await feed.started;
    expect([feed.version(), feed.current(), feed.record()]).toEqual([null, undefined, undefined]);
    await world.publish(aRecord(1));
    await waitFor(() => feed.version() === 1, { what: 'the first version' });
  });

  test('with both away it starts after the limit, from the file where there is one', async ({ world }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'adcap-rules-'));
    const file = path.join(folder, 'rules.yaml');
    const wrong = path.join(folder, 'wrong.yaml');
    await writeFile(file, 'rules:\n  - { id: a, dimension: creative, limit: { max: 4, window: 60m } }\n');
    await writeFile(wrong, 'rules:\n  - { id: b, dimension: creative, limit: { max: 0, window: 60m } }\n');
    const away = { cache: world.noCache, bus: { ...world.bus, brokers: [NOWHERE] }, startLimitMs: 200 };
    const [none, fromFile, refused] = [
      world.open(away),
      world.open({ ...away, file }),
      world.open({ ...away, file: wrong }),
    ];
    await Promise.all([none.started, fromFile.started, refused.started]);
    expect([none.version(), fromFile.version(), refused.version()]).toEqual([null, 0, null]);
    expect([capOf(fromFile), fromFile.source()]).toEqual([4, 'file']);
    expect(String(Reflect.get(world.log.errors()[0]?.bindings ?? {}, 'err'))).toMatch(/rule b, limit\.max/);
    await rm(folder, { recursive: true });
  });

  test('the set of the file gives way to version 1', async ({ world }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'adcap-rules-'));
    const file = path.join(folder, 'rules.yaml');
    await writeFile(file, 'rules:\n  - { id: a, dimension: creative, limit: { max: 4, window: 60m } }\n');
    await using feed = world.open({ file });
    await feed.started;
    expect(feed.version()).toBe(0);
    await world.publish(aRecord(1));
    await waitFor(() => feed.version() === 1, { what: 'version 1' });
    expect(capOf(feed)).toBe(1);
    await rm(folder, { recursive: true });
  });
});
