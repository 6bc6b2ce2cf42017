import { CURRENT_RULES_KEY, type Rule, rulesVersionKey } from '@adcap/contracts';
import { createProducer } from '@adcap/kafka-bus';
import { createKeys, createRulesCache } from '@adcap/redis-windows';
import { createRulesFeed, type RulesFeed } from '@adcap/rules-feed';
import { createLogger } from '@adcap/service-runtime';
import { waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { test as base } from './fixtures.ts';
import { OPERATOR, RETENTION, rulesOf, type Selection, startSelection } from './start-selection.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const cap = (max: number, window: string) => ({ max, window });

type World = {
  /** Puts a version on the topic as the rules service does. */
  publish(version: number, rules: readonly Rule[], publishedAt: number): Promise<void>;
  /** A service that follows the topic by itself. */
  start(): Promise<Selection & { feed: RulesFeed }>;
};

const test = base.extend<{ world: World }>({
  world: async ({ selection, redisUrl, keyPrefix, kafkaBrokers, topicPrefix, topics }, use) => {
    const topic = `${topicPrefix}adcap.rules.v1`;
    if (!topics.includes(topic)) throw new Error('there is no rules topic');
    await using stack = new AsyncDisposableStack();
    const logger = createLogger({ name: 'test', level: 'silent' });
    const bus = { brokers: [kafkaBrokers], clientId: 'test', logger };
    const producer = createProducer({ bus, topics: [topic] });
    stack.defer(() => producer.close());
    const cache = createRulesCache(selection.connection, createKeys(keyPrefix));
    await use({
      publish: (version, rules, publishedAt) => {
        const value = JSON.stringify({ schema: 1, version, dimensions: {}, rules, publishedAt });
        const keys = [rulesVersionKey(version), CURRENT_RULES_KEY];
        return producer.send(
          topic,
          keys.map((key) => ({ key, value })),
        );
      },
      start: async () => {
        const { retentionMs } = RETENTION;
        const feed = createRulesFeed({ bus, topic, cache, retentionMs, nowMs: () => Date.now() });
        stack.defer(() => feed.close());
        const service = await startSelection({ redisUrl, keyPrefix, feed });
        stack.defer(() => service.close());
        return { ...service, feed };
      },
    });
  },
});

const reportOf = async ({ url }: Pick<Selection, 'url'>, at?: number) => {
  const query = at === undefined ? '' : `?at=${at}`;
  const response = await fetch(`${url}/v1/devices/d1${query}`, {
    headers: { authorization: `Bearer ${OPERATOR}` },
  });
  expect(response.status).toBe(200);
  return response.json();
};

describe('the report of a device', () => {
  test('is judged by the rules that were in force at the instant, and says where they are not known', async ({
    world,
    watch,
  }) => {
    const now = Date.now();
    const [seenFirst, seenLater] = [now - 90 * MINUTE, now - 30 * MINUTE];
    await watch([seenFirst, seenLater].map((at) => ({ at })));
    await world.publish(1, [{ id: 'hourly', dimension: 'creative', limit: cap(3, '60m') }], now - 2 * HOUR);
    await world.publish(2, [{ id: 'day', dimension: 'creative', limit: cap(2, '24h') }], now - HOUR);
    const service = await world.start();
    await waitFor(() => service.feed.version() === 2, { what: 'version 2' });

    const before = await reportOf(service, seenFirst + 1_000);
    expect(before).toMatchObject({
      rulesVersion: 1,
      rulesInForce: true,
      caps: [{ ruleId: 'hourly', used: 1, remaining: 2, impressions: [{ at: seenFirst, creativeId: 'c1' }] }],
      ads: [{ creativeId: 'c1', allowed: true, rules: [{ ruleId: 'hourly', fate: 'applies', used: 1 }] }],
    });
    const after = await reportOf(service, seenLater + 1_000);
    expect(after).toMatchObject({
      rulesVersion: 2,
      rulesInForce: true,
      caps: [{ ruleId: 'day', used: 2, impressions: [{ at: seenFirst }, { at: seenLater }] }],
      ads: [{ allowed: false, nextAllowedAt: seenFirst + 24 * HOUR }],
    });
    expect(await reportOf(service, now - 3 * HOUR)).toMatchObject({ rulesVersion: 2, rulesInForce: false });
    expect(await reportOf(service)).toMatchObject({ rulesVersion: 2, rulesInForce: true });

    const changedAt = Date.now();
    await world.publish(3, [], changedAt);
    await waitFor(() => service.feed.version() === 3, { what: 'version 3' });
    expect(await reportOf(service, changedAt - 1)).toMatchObject({ rulesVersion: 2, caps: [{}] });
    expect(await reportOf(service, changedAt)).toMatchObject({
      rulesVersion: 3,
      rulesInForce: true,
      caps: [],
    });
  });

  test('without rules it says what was watched, and that nothing judged it', async ({ selection, watch }) => {
    await watch([{ at: Date.now() - MINUTE }]);
    expect(await reportOf(selection)).toMatchObject({
      rulesVersion: null,
      rulesInForce: false,
      history: [{ creativeId: 'c1' }],
      caps: [],
      ads: [],
    });
  });

  test('names what counts in each cap, wherever it is written: once in both, in the window or in the history', async ({
    selection,
    watch,
    watchOnly,
  }) => {
    selection.setRules(rulesOf([{ id: 'brand', dimension: 'brand', limit: cap(9, '60m') }]));
    const now = Date.now();
    const ago = (minutes: number) => now - minutes * MINUTE;
    await watch([{ at: ago(5), brandId: 'b' }]);
    await watchOnly('window')([{ at: ago(4), creativeId: 'c2', brandId: 'b' }]);
    await watchOnly('history')([{ at: ago(3), creativeId: 'c3', brandId: 'b' }]);
    const breakAt = now + MINUTE;
    const candidates = [{ creativeId: 'c4', brandId: 'b' }];
    await selection.select({ deviceId: 'd1', breakId: 'b', breakAt, slots: 1, candidates });
    expect(await reportOf(selection, breakAt)).toMatchObject({
      caps: [
        {
          ruleId: 'brand',
          value: 'b',
          used: 3,
          reserved: 1,
          remaining: 5,
          impressions: [
            { at: ago(5), creativeId: 'c1' },
            { at: ago(4), creativeId: null },
            { at: ago(3), creativeId: 'c3' },
          ],
          reservations: [{ slot: 1, breakAt }],
        },
      ],
    });
  });
});

test('B23 a changed cap is right at once in two services, and one without counters from the history alone', async ({
  world,
  watchOnly,
}) => {
  const t0 = Date.now() - HOUR;
  await watchOnly('history')([t0, t0 + MINUTE].map((at) => ({ at, industryIds: ['cars'] })));
  const c1 = (limit: Rule['limit']): Rule => ({ id: 'c1', dimension: 'creative', value: 'c1', limit });
  const cars: Rule = { id: 'cars', dimension: 'industry', value: 'cars', limit: cap(1, '30m') };
  const versions = [
    { rules: [c1(cap(2, '60m'))], remaining: 0, ruleId: 'c1', source: 'history' },
    // In ten minutes nothing was watched: the history has nothing that the window lacks.
    { rules: [c1(cap(2, '10m'))], remaining: 2, ruleId: undefined, source: 'quotas' },
    { rules: [c1(cap(2, '10m')), cars], remaining: 0, ruleId: 'cars', source: 'history' },
    { rules: [c1(cap(2, '60m'))], remaining: 0, ruleId: 'c1', source: 'history' },
  ];
  const services = [await world.start(), await world.start()];
  for (const [index, { rules, remaining, ruleId, source }] of versions.entries()) {
    const version = index + 1;
    // Each change is seen before the next one.
    // oxlint-disable-next-line no-await-in-loop
    await world.publish(version, rules, Date.now());
    for (const service of services) {
      // oxlint-disable-next-line no-await-in-loop
      await waitFor(() => service.feed.version() === version, { what: `version ${version}` });
      const candidates = [{ creativeId: 'c1', industryIds: ['cars'] }];
      // oxlint-disable-next-line no-await-in-loop
      const answer = await service.select({
        deviceId: 'd1',
        breakId: 'b',
        breakAt: t0 + 15 * MINUTE,
        candidates,
      });
      expect([answer.source, answer.rulesVersion]).toEqual([source, version]);
      expect(answer.candidates[0]).toMatchObject({ remaining, allowed: remaining > 0 });
      expect(answer.candidates[0]?.blockedBy?.ruleId).toBe(ruleId);
    }
  }
});
