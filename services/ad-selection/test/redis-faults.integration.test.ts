import type { ImpressionEvent, SelectionAnswer } from '@adcap/contracts';
import { impressionIdentity } from '@adcap/identity';
import { connectRedis, createHistoryWriter, createKeys, createWindowWriter } from '@adcap/redis-windows';
import { createRedisControl, type FaultProxy, startFaultProxy, startOwnRedis, waitFor } from '@adcap/testkit';
import { test as base, describe, expect } from 'vitest';
import { askFor, capAndBlock, OPEN } from './open-scene.ts';
import { OPERATOR, RETENTION, type Selection, startSelection } from './start-selection.ts';

/*
 * Redis fails while many ask: every answer is marked, the store is hardly asked, nothing waits and nothing is held afterwards.
 */

const KEY_PREFIX = 'x:';
const CAP = 20;
const quiet = { info: () => undefined, warn: () => undefined };
const rules = capAndBlock(CAP);

const ask = (deviceId: string, breakId: string, more: { slots?: number; breakAt?: number } = {}) =>
  askFor({ deviceId, breakId }, more);

type Scene = {
  proxy: FaultProxy;
  selection: Selection;
  /** Commands of one name that Redis has got since it was started. */
  calls: (command: string) => Promise<number>;
  inFlight: () => Promise<number>;
  /** Waits until a decision is exact again, asked by a viewer of its own. */
  untilExact: () => Promise<SelectionAnswer>;
  redis: Awaited<ReturnType<typeof startOwnRedis>>;
};

const metric = async ({ registry }: Selection, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await registry.metrics())?.[1]);

const test = base.extend<{ scene: Scene; deadlineMs: number }>({
  deadlineMs: 20,
  scene: async ({ deadlineMs }, use) => {
    await using redis = await startOwnRedis();
    await using proxy = await startFaultProxy(redis.port);
    using control = createRedisControl(redis.address);
    const selection = await startSelection({
      redisUrl: `redis://127.0.0.1:${proxy.port}`,
      keyPrefix: KEY_PREFIX,
      config: { ADCAP_AD_SELECTION_DEADLINE_MS: String(deadlineMs) },
      isWarm: true,
    });
    selection.setRules(rules);
    let probes = 0;
    await use({
      redis,
      proxy,
      selection,
      calls: async (command) => {
        const stats = String(await control.run('INFO commandstats'));
        return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
      },
      inFlight: () => metric(selection, 'adcap_ad_selection_in_flight'),
      untilExact: () =>
        waitFor(
          async () => {
            probes += 1;
            const answer = await selection.select(ask('probe', `probe-${probes}`, { slots: 0 }));
            return answer.source === 'quotas' && !answer.degraded ? answer : undefined;
          },
          { what: 'an exact answer' },
        ),
    });
    await selection.close();
  },
});

/** Asks at a pace for a while: so many a round, each round after the one before is answered. */
const askInRounds = async (
  selection: Selection,
  of: { rounds: number; each: number; name: string },
): Promise<SelectionAnswer[]> => {
  const answers: SelectionAnswer[] = [];
  for (let round = 0; round < of.rounds; round += 1) {
    const asked = Array.from({ length: of.each }, (_, index) =>
      selection.select(ask(`d${index}`, `${of.name}-${round}-${index}`)),
    );
    // oxlint-disable-next-line no-await-in-loop -- the rounds follow one another
    answers.push(...(await Promise.all(asked)));
  }
  return answers;
};

const heldBy = async (selection: Selection, deviceId: string): Promise<number> => {
  const response = await fetch(`${selection.url}/v1/devices/${deviceId}`, {
    headers: { authorization: `Bearer ${OPERATOR}` },
  });
  const { reservations } = (await response.json()) as { reservations: unknown[] };
  return reservations.length;
};

const DEVICES = 20;
const ROUNDS = 50;
/** What fills the breaker and one trial a quarter of a second for longer than the test may take. */
const HARDLY_ASKED = 300;

const FAULTS: readonly {
  name: string;
  begin: (scene: Scene) => Promise<void>;
  end: (scene: Scene) => Promise<void>;
}[] = [
  { name: 'stopped', begin: ({ redis }) => redis.stop(), end: ({ redis }) => redis.restart() },
  { name: 'black-holed', begin: async ({ proxy }) => proxy.blackHole(), end: ({ proxy }) => proxy.pass() },
];

describe('B57 Redis is gone while a thousand decisions are asked for', () => {
  test.for(FAULTS)(
    '$name: each is open, the store is hardly asked, nothing waits, back by itself',
    async ({ begin, end }, { scene }) => {
      const { selection } = scene;
      await scene.untilExact();
      const reads = await scene.calls('evalsha');
      await begin(scene);
      const answers = await askInRounds(selection, { rounds: ROUNDS, each: DEVICES, name: 'away' });
      for (const answer of answers) expect(answer).toMatchObject(OPEN);
      expect(answers.filter(({ degradedReason }) => degradedReason !== 'circuit_open').length).toBeLessThan(
        HARDLY_ASKED,
      );
      expect(await scene.inFlight()).toBe(0);
      await end(scene);
      await scene.untilExact();
      // What the network held back and then delivered is in it; a stopped Redis has begun to count anew.
      expect((await scene.calls('evalsha')) - reads).toBeLessThan(HARDLY_ASKED);
      for (let device = 0; device < DEVICES; device += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other is enough
        expect(await heldBy(selection, `d${device}`)).toBe(0);
      }
      expect(await scene.inFlight()).toBe(0);
    },
  );
});

const aView = (deviceId: string, index: number, at: number): ImpressionEvent => {
  const event = { deviceId, creativeId: 'c1', industryIds: [], receivedAt: at, impressionId: `i${index}` };
  return { type: 'NEW_IMPRESSION', v: 1, at, ...event, ...impressionIdentity({ ...event, at }) };
};

describe('B58 what was asked of a paused Redis', () => {
  test('a hundred reservations and some impressions: no phantom, each impression once, no promise left', async ({
    scene,
  }) => {
    const { redis, selection } = scene;
    await scene.untilExact();
    const connection = connectRedis({ url: redis.address, name: 'writer', logger: quiet, role: 'writer' });
    await connection.whenReady();
    const settings = { keys: createKeys(KEY_PREFIX), ...RETENTION };
    const writers = [createHistoryWriter(connection, settings), createWindowWriter(connection, settings)];
    const now = Date.now();
    const events = Array.from({ length: 10 }, (_, index) => aView(`d${index}`, index, now - 60_000));
    const write = () =>
      Promise.all(
        writers.map((writer, partition) => {
          const applied = { group: 'test', partition, nextOffset: 1n, epoch: connection.epoch() };
          return writer.applyBatch({ events, applied });
        }),
      );

    await redis.pause();
    const written = write();
    const answers = await askInRounds(selection, { rounds: 1, each: 100, name: 'paused' });
    for (const answer of answers) expect(answer).toMatchObject(OPEN);
    // The writers' promises settle while Redis is still paused: their sockets are given up.
    const outcomes = (await written).flat().map(({ kind }) => kind);
    expect(outcomes).toEqual(events.concat(events).map(() => 'failed'));
    expect(await scene.inFlight()).toBe(0);
    await redis.resume();
    await connection.whenReady();

    // The consumer comes again with what was not acknowledged, whether it had been done or not.
    await waitFor(async () => (await write()).flat().every(({ kind }) => kind !== 'failed'), {
      what: 'the impressions to be written',
    });
    await scene.untilExact();
    for (let device = 0; device < events.length; device += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other is enough
      const answer = await selection.select(ask(`d${device}`, 'check', { slots: 0, breakAt: now }));
      expect(answer).toMatchObject({ source: 'quotas', candidates: [{}, { remaining: CAP - 1 }] });
    }
    expect(await scene.inFlight()).toBe(0);
    await connection.close();
  });
});

describe('B60 two hundred viewers at once over a connection that breaks', () => {
  const VIEWERS = 200;
  const watchedBy = (viewer: number): number => viewer % CAP;
  const exactFor = (viewer: number) => ({
    source: 'quotas',
    candidates: [{}, { remaining: CAP - watchedBy(viewer) }],
  });
  const marked = { source: 'open', degraded: true, reserved: false };

  test.override({ deadlineMs: 1_000 });
  test('each answer is about its own viewer, or is marked', async ({ scene }) => {
    const { proxy, redis, selection } = scene;
    const connection = connectRedis({ url: redis.address, name: 'writer', logger: quiet, role: 'writer' });
    await connection.whenReady();
    const writer = createWindowWriter(connection, { keys: createKeys(KEY_PREFIX), ...RETENTION });
    const now = Date.now();
    const events = Array.from({ length: VIEWERS }, (_, viewer) =>
      Array.from({ length: watchedBy(viewer) }, (_unused, index) => aView(`v${viewer}`, index, now - 60_000)),
    ).flat();
    const applied = { group: 'test', partition: 0, nextOffset: 1n, epoch: connection.epoch() };
    await writer.applyBatch({ events, applied });
    await connection.close();

    // Slow enough that the break meets commands on their way, in both directions.
    proxy.delay({ toServerMs: 5, toClientMs: 5 });
    const seen = { exact: 0, marked: 0 };
    const isWanting = (): boolean => seen.exact === 0 || seen.marked === 0;
    for (let round = 0; round < 5 || (isWanting() && round < 50); round += 1) {
      const asked = Array.from({ length: VIEWERS }, (_, viewer) =>
        selection.select(ask(`v${viewer}`, `round-${round}`, { slots: 0, breakAt: now })),
      );
      // oxlint-disable-next-line no-await-in-loop -- the first answers show that commands are on their way
      await Promise.race(asked);
      proxy.reset();
      // oxlint-disable-next-line no-await-in-loop -- the rounds follow one another
      const answers = await Promise.all(asked);
      expect(answers).toMatchObject(
        answers.map(({ degraded }, viewer) => (degraded ? marked : exactFor(viewer))),
      );
      seen.marked += answers.filter(({ degraded }) => degraded).length;
      seen.exact += answers.filter(({ degraded }) => !degraded).length;
      // oxlint-disable-next-line no-await-in-loop -- as above
      await scene.untilExact();
    }
    // Both kinds were met, else the break came too early or too late.
    expect(seen.exact).toBeGreaterThan(0);
    expect(seen.marked).toBeGreaterThan(0);
    expect(await scene.inFlight()).toBe(0);
  });
});
