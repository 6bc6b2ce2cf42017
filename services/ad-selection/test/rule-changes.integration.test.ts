import { fileURLToPath } from 'node:url';
import { CURRENT_RULES_KEY, epochMs, type RuleSet, rulesVersionKey, topicName } from '@adcap/contracts';
import { valueKeyOf } from '@adcap/identity';
import { type Servers, settingsFor, startProcess } from '@adcap/impression-consumer/testing';
import { createProducer } from '@adcap/kafka-bus';
import { compileRules } from '@adcap/rule-engine';
import { createLogger } from '@adcap/service-runtime';
import { waitFor } from '@adcap/testkit';
import {
  anAdOf,
  aRuleSetOf,
  askEngine,
  type OracleAd,
  type OracleView,
  toEngineAd,
  toEngineView,
} from '@adcap/testkit/oracle';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test as base, type Watch } from './fixtures.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const logger = createLogger({ name: 'test', level: 'silent' });
const DEVICES = 8;
const SLOTS = 2;

/** Publishes versions as the rules service does. */
const publisherOf = (servers: Servers) => {
  const topic = topicName('rules', servers.topicPrefix);
  const producer = createProducer({
    bus: { brokers: [servers.kafkaBrokers], clientId: 'test', logger },
    topics: [topic],
  });
  return {
    publish: (ruleSet: RuleSet) => {
      const { version, dimensions, rules } = ruleSet;
      const value = JSON.stringify({ schema: 1, version, dimensions, rules, publishedAt: Date.now() });
      return producer.send(topic, [
        { key: rulesVersionKey(version), value },
        { key: CURRENT_RULES_KEY, value },
      ]);
    },
    [Symbol.asyncDispose]: () => producer.close(),
  };
};

type Answer = {
  rulesVersion: number;
  source: string;
  degraded: boolean;
  degradedReason?: string;
  reserved: boolean;
  candidates: { allowed: boolean; remaining: number | null; nextAllowedAt?: number }[];
  pod: { slot: number; index: number }[];
};

const select = async (address: string, body: object): Promise<Answer> => {
  const response = await fetch(new URL('/v1/selections', address), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
};

const untilVersion = (address: string, version: number) =>
  waitFor(
    async () =>
      (await (await fetch(new URL('/metrics', address))).text()).includes(
        `\nadcap_rules_version ${version}\n`,
      ),
    { what: `version ${version} at ${address}` },
  );

const test = base.extend<{ servers: Servers }>({
  servers: async ({ redisUrl, keyPrefix, kafkaBrokers, topicPrefix, topics }, use) => {
    expect(topics.length).toBeGreaterThan(0);
    await use({ redisUrl, keyPrefix, kafkaBrokers, topicPrefix });
  },
});

const startAd = (servers: Servers, more: Record<string, string> = {}) =>
  startProcess(MAIN, {
    ...settingsFor(servers, 'ADCAP_AD_SELECTION_PORT'),
    ADCAP_RESERVATION_KEYS: 'k1:a secret for the tests',
    ...more,
  });

const watchAll = async (watch: Watch, pasts: readonly (readonly OracleView[])[]): Promise<void> => {
  const views = pasts.flatMap((past, device) =>
    past.map(({ creative, campaign, brand, industries, at }) => ({
      deviceId: `d${device}`,
      creativeId: creative,
      ...(campaign === undefined ? {} : { campaignId: campaign }),
      ...(brand === undefined ? {} : { brandId: brand }),
      industryIds: [...industries],
      at,
      receivedAt: at,
    })),
  );
  await watch(views);
};

const candidateOf = ({ creative, campaign, brand, industries }: OracleAd) => ({
  creativeId: creative,
  ...(campaign === undefined ? {} : { campaignId: campaign }),
  ...(brand === undefined ? {} : { brandId: brand }),
  industryIds: [...industries],
});

/** Random rules, pasts and candidates; the same in every run. */
const randomWorld = (at: number) => {
  const seed = 7;
  const past = fc.array(
    fc
      .tuple(anAdOf, fc.constantFrom(1, 900, 1_500, 4_000, 30_000, 80_000))
      .map(([ad, age]) => ({ ...ad, at: at - age })),
    { minLength: 2, maxLength: 8 },
  );
  return {
    ruleSets: fc
      .sample(aRuleSetOf, { numRuns: 100, seed })
      .map((set, index): RuleSet => ({ ...set, version: index + 1 })),
    pasts: fc.sample(past, { numRuns: DEVICES, seed }),
    ads: fc.sample(anAdOf, { numRuns: 6, seed }),
  };
};

describe('rules that change under load', () => {
  test('a hundred random changes, two processes: every answer is what the engine says under the version that it names', async ({
    servers,
    watch,
  }) => {
    const at = epochMs(Date.now());
    const { ruleSets, pasts, ads } = randomWorld(at);
    await watchAll(watch, pasts);
    await using publisher = publisherOf(servers);
    const patient = { ADCAP_AD_SELECTION_DEADLINE_MS: '5000' };
    const processes = await Promise.all([startAd(servers, patient), startAd(servers, patient)]);
    const [first] = ruleSets;
    if (first === undefined) throw new Error('no rules');
    await publisher.publish(first);
    await Promise.all(processes.map(({ address }) => untilVersion(address, 1)));

    const told: { process: number; device: number; answer: Answer }[] = [];
    const over = new AbortController();
    const ask = async (process: number, device: number): Promise<void> => {
      const body = {
        deviceId: `d${device}`,
        breakId: 'b',
        breakAt: at,
        slots: SLOTS,
        reserve: false,
        candidates: ads.map(candidateOf),
      };
      const address = processes[process]?.address ?? '';
      told.push({ process, device, answer: await select(address, body) });
    };
    const asking = Array.from({ length: 4 }, async (_, lane) => {
      for (let turn = 0; !over.signal.aborted; turn += 1) await ask(lane % 2, (lane + turn) % DEVICES);
    });
    for (const ruleSet of ruleSets.slice(1)) {
      const before = told.length;
      await publisher.publish(ruleSet);
      await waitFor(() => told.length > before + 4, { what: 'answers under way' });
    }
    await Promise.all(processes.map(({ address }) => untilVersion(address, 100)));
    over.abort();
    await Promise.all(asking);
    await Promise.all(processes.map((_, process) => ask(process, 0)));

    const engine = ruleSets.map((ruleSet) => {
      const rules = compileRules(ruleSet);
      return pasts.map((past) => {
        const watched = past.map((view) => toEngineView(view, valueKeyOf));
        const said = askEngine(
          rules,
          { context: {}, watched, reserved: [] },
          {
            ads: ads.map((ad) => toEngineAd(ad, valueKeyOf)),
            at,
            slots: SLOTS,
          },
        );
        return {
          candidates: said.answers.map(({ allowed, remaining, nextAllowedAt }) => ({
            allowed,
            remaining,
            nextAllowedAt,
          })),
          pod: said.pod,
        };
      });
    });
    for (const { device, answer } of told) {
      expect(answer.source).toBe('quotas');
      const pod = ads.map((_, index) => answer.pod.find((place) => place.index === index)?.slot);
      const candidates = answer.candidates.map(({ allowed, remaining, nextAllowedAt }) => ({
        allowed,
        remaining,
        nextAllowedAt,
      }));
      expect({ candidates, pod }).toEqual(engine[answer.rulesVersion - 1]?.[device]);
    }
    for (const process of [0, 1]) {
      const versions = told.filter((one) => one.process === process).map(({ answer }) => answer.rulesVersion);
      expect(new Set(versions).size).toBeGreaterThan(20);
      expect(versions.at(-1)).toBe(100);
    }
  });
});

/** Nobody applies impressions here, so that every answer is from behind. */
const isInTime = ({ source, degradedReason, reserved }: Answer): boolean =>
  source === 'quotas' && reserved && (degradedReason === undefined || degradedReason === 'behind');

/**
 * Where others keep the cores of this machine busy an answer may be late whatever the rules are; with rules that cost
 * milliseconds most would.
 */
const expectInTime = (told: readonly Answer[]): void => {
  expect(told.filter(isInTime).length).toBeGreaterThan(told.length / 2);
};

/** 5,000 rules, most of them of one value, with times, conditions and notes as people write them. */
const manyRules = (version: number): RuleSet => ({
  version,
  dimensions: {},
  rules: Array.from({ length: 5_000 }, (_, index) => ({
    id: `rule-${index}`,
    dimension: (['creative', 'campaign', 'brand', 'industry'] as const)[index % 4] ?? 'creative',
    ...(index % 100 === 0
      ? { when: { channel: [`channel-${index}`] } }
      : { value: `value-${index % 1_000}-${index % 4}` }),
    ...(index % 100 === 0 || index < 4_000 ? {} : { when: { market: [`market-${index}`] } }),
    limit: { max: 1 + ((index + version) % 5), window: `${5 + Math.floor(index / 100)}m` },
    endsAt: epochMs(Date.UTC(2040, 0, 1) + index * 1_000),
    note: 'why this cap is there, in a sentence of the length that people write',
  })),
});

describe('a set of 5,000 rules', () => {
  test('is loaded, replaced under load and decided with inside the default deadline', async ({
    servers,
    watch,
  }) => {
    await watch([{ at: Date.now() - 1_000, creativeId: 'value-8-0', deviceId: 'd0' }]);
    await using publisher = publisherOf(servers);
    const { address } = await startAd(servers);
    await publisher.publish(manyRules(1));
    await untilVersion(address, 1);

    const told: Answer[] = [];
    const ask = async (turn: number): Promise<void> => {
      const candidates = Array.from({ length: 20 }, (_, index) => ({
        creativeId: `value-${index * 4}-0`,
        campaignId: `value-${index * 4 + 1}-1`,
        brandId: `value-${index * 4 + 2}-2`,
        industryIds: [`value-${index * 4 + 3}-3`],
      }));
      const more = { breakId: `b${turn}`, breakAt: Date.now() + 60_000, slots: 4, context: { market: 'dk' } };
      told.push(await select(address, { deviceId: `d${turn % 50}`, ...more, candidates }));
    };
    for (let turn = 0; turn < 300; turn += 1) await ask(turn);
    expectInTime(told);
    expect(told.filter(({ pod }) => pod.length > 0).length).toBe(300);

    told.length = 0;
    const over = new AbortController();
    const asking = (async () => {
      for (let turn = 1_000; !over.signal.aborted; turn += 1) await ask(turn);
    })();
    for (let version = 2; version <= 6; version += 1) {
      await publisher.publish(manyRules(version));
      await untilVersion(address, version);
    }
    over.abort();
    await asking;
    console.log(
      `${told.length} answers under ${new Set(told.map(({ rulesVersion }) => rulesVersion)).size} versions of 5,000 rules`,
    );
    expectInTime(told);
  });
});
