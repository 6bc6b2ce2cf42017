import { createPartitionOf } from '@adcap/kafka-bus';
import { startOwnRedis, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { test as base } from './fixtures.ts';
import { sayApplied } from './say-applied.ts';
import { GROUPS, OPERATOR, rulesOf, type Selection, startSelection } from './start-selection.ts';

const rules = rulesOf([{ dimension: 'creative', limit: { max: 1, window: '60m' } }]);
const PARTITIONS = 3;
const partitionOf = createPartitionOf(PARTITIONS);
const deviceIn = (partition: number): string =>
  Array.from({ length: 100 }, (_, index) => `d${index}`).find((id) => partitionOf(id) === partition) ?? '';

type Said = Partial<Record<keyof typeof GROUPS, readonly (number | undefined)[]>>;

const test = base.extend<{ selection: Selection; say: (said: Said) => Promise<void> }>({
  selection: async ({ redisUrl, keyPrefix }, use) => {
    const selection = await startSelection({ redisUrl, keyPrefix, asOf: 'as in Redis' });
    selection.setRules(rules);
    await use(selection);
    await selection.close();
  },
  say: async ({ selection, keyPrefix }, use) => {
    await use(async (said) => {
      for (const group of ['history', 'quota'] as const) {
        const asOf = said[group];
        if (asOf !== undefined)
          await sayApplied(selection.connection, { keyPrefix, group: GROUPS[group], asOf });
      }
    });
  },
});

const ask = (more: Record<string, unknown> = {}) => ({
  deviceId: 'd1',
  breakId: 'b1',
  breakAt: Date.now(),
  candidates: [{ creativeId: 'c1' }],
  ...more,
});

/** An answer once the service has heard what was said. */
const answerWith = (selection: Selection, body: Record<string, unknown>, asOf: number | null) =>
  waitFor(
    async () => {
      const answer = await selection.select(body);
      return answer.asOf === asOf ? answer : undefined;
    },
    { what: `an answer as of ${asOf}` },
  );

describe('asOf', () => {
  test('is the instant of the device’s partition, of whichever consumer is further', async ({
    selection,
    say,
  }) => {
    const now = Date.now();
    await say({ history: [now - 1, now - 20, now - 30], quota: [now - 10, now - 2, undefined] });
    for (const [partition, asOf] of [now - 1, now - 2, now - 30].entries()) {
      const answer = await answerWith(selection, ask({ deviceId: deviceIn(partition) }), asOf);
      expect(answer).toMatchObject({ source: 'quotas', degraded: false });
    }
  });

  test('of a decision from the history is that of the history alone', async ({
    selection,
    say,
    watchOnly,
  }) => {
    const now = Date.now();
    const deviceId = deviceIn(0);
    await watchOnly('history')([{ deviceId, at: now - 1_000 }]);
    await say({ history: [now - 70_000, now, now], quota: [now, now, now] });
    expect(await answerWith(selection, ask({ deviceId }), now - 70_000)).toMatchObject({
      source: 'history',
      degraded: true,
      degradedReason: 'behind',
      candidates: [{ outcome: 'capped' }],
    });
  });

  test('that is not known, or too long ago, degrades an answer that is otherwise as usual', async ({
    selection,
    say,
  }) => {
    const slots = { slots: 1 };
    const behind = { degraded: true, degradedReason: 'behind', source: 'quotas', reserved: true };
    const first = await selection.select(ask({ ...slots, breakId: 'unknown' }));
    expect(first).toMatchObject({ ...behind, asOf: null, pod: [{ creativeId: 'c1' }] });
    const old = Date.now() - 60_001;
    await say({ history: [old], quota: [old] });
    const later = await answerWith(selection, ask({ ...slots, deviceId: 'd2' }), old);
    expect(later).toMatchObject({ ...behind, pod: [{ creativeId: 'c1' }] });
    expect(await selection.registry.metrics()).toMatch(
      /adcap_ad_selection_degraded_total\{reason="behind"\} [1-9]/,
    );
  });

  test('of a repeated answer is today’s', async ({ selection, say }) => {
    const now = Date.now();
    await say({ quota: [now - 5_000] });
    const first = await answerWith(selection, ask({ slots: 1 }), now - 5_000);
    await say({ quota: [now] });
    const again = await answerWith(selection, ask({ slots: 1, breakAt: first.breakAt }), now);
    expect(again.pod).toEqual(first.pod);
  });

  test('is in answers to reservations, in batches and device reports; and null where nothing was counted', async ({
    selection,
    say,
  }) => {
    const now = Date.now();
    await say({ history: [now] });
    await answerWith(selection, ask(), now);
    const items = [{ creativeId: 'c1' }];
    const reserved = await selection.post('/v1/reservations', { ...ask(), candidates: undefined, items });
    const { deviceId, ...one } = ask({ breakId: 'b2' });
    const batch = await selection.post('/v1/selections/batch', { deviceId, breaks: [one] });
    const report = await fetch(`${selection.url}/v1/devices/d1`, {
      headers: { authorization: `Bearer ${OPERATOR}` },
    });
    expect([reserved.body, batch.body, await report.json()]).toMatchObject([
      { asOf: now },
      { answers: [{ asOf: now }] },
      { asOf: now },
    ]);
    expect(await selection.select(ask({ deviceId: '-1' }))).toMatchObject({
      source: 'unidentified',
      degraded: false,
      asOf: null,
    });
    selection.setRules(undefined);
    expect(await selection.select(ask())).toMatchObject({ source: 'open', asOf: null });
  });

  test('is shown by its age, of the partition that is furthest behind', async ({ selection, say }) => {
    const age = async () =>
      Number(/^adcap_ad_selection_as_of_age_seconds (\S+)/m.exec(await selection.registry.metrics())?.[1]);
    const check = async () => {
      const response = await fetch(`${selection.url}/readyz`);
      const body: unknown = await response.json();
      expect(response.status).toBe(200);
      return body;
    };
    expect(await age()).toBeNaN();
    expect(await check()).toMatchObject({ checks: { asOf: { ok: false } } });
    await say({ history: [Date.now() - 50_000, Date.now()] });
    await waitFor(async () => (await age()) >= 50, { what: 'the age' });
    expect(await check()).toMatchObject({ checks: { asOf: { ok: true } } });
  });
});

describe('law 15 on the reading side', () => {
  test('a Redis that is emptied under the connection: the answer that no longer knows the views is marked', async ({
    ownClient,
    keyPrefix,
  }) => {
    await using redis = await startOwnRedis();
    const selection = await startSelection({ redisUrl: redis.address, keyPrefix, asOf: 'as in Redis' });
    selection.setRules(rules);
    const now = Date.now();
    const said = { keyPrefix, group: GROUPS.quota, asOf: [now] };
    await sayApplied(selection.connection, said);
    await answerWith(selection, ask(), now);
    await ownClient(redis.address).flushall();
    expect(await answerWith(selection, ask(), null)).toMatchObject({
      degraded: true,
      degradedReason: 'behind',
    });
    await selection.close();
  });

  test('a Redis that comes back without what it had: what was known before it went is not believed', async ({
    ownClient,
    keyPrefix,
  }) => {
    await using redis = await startOwnRedis();
    const selection = await startSelection({ redisUrl: redis.address, keyPrefix, asOf: 'as in Redis' });
    selection.setRules(rules);
    const now = Date.now();
    await sayApplied(selection.connection, { keyPrefix, group: GROUPS.quota, asOf: [now] });
    await answerWith(selection, ask(), now);
    await ownClient(redis.address).flushall();
    await redis.restart();
    const first = await waitFor(
      async () => {
        const answer = await selection.select(ask());
        return answer.source === 'open' ? undefined : answer;
      },
      { what: 'an answer that counts' },
    );
    expect(first).toMatchObject({ source: 'quotas', degradedReason: 'behind', asOf: null });
    await selection.close();
  });
});
