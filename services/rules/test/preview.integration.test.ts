import { topicName } from '@adcap/contracts';
import { deviceTag } from '@adcap/identity';
import { createProducer } from '@adcap/kafka-bus';
import { createKeys } from '@adcap/redis-windows';
import { test as base, freePort, waitFor } from '@adcap/testkit';
import type { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import {
  capRule,
  logger,
  put,
  type RulesService,
  type Servers,
  startRulesService,
} from './start-rules-service.ts';

const MINUTE = 60_000;

/** What these tests look at in a preview. */
type Figures = {
  impressions: number;
  devices: number;
  blocked: number;
  blockedShare: number;
  newlyBlocked: number;
  newlyBlockedShare: number;
  newlyAllowed: number;
  interval: { low: number; high: number };
  byRule: { ruleId: string; blocked: number; newlyBlocked: number; devices: number }[];
  sampled: number;
  population: number;
  isPartial: boolean;
  rulesVersion: number;
  warnings: { ruleId: string; field: string; message: string }[];
  lostFill?: { decisions: number; devices: number; slots: number; lost: number };
  lostFillReason?: string;
};

type View = { creativeId: string; minutesAgo: number };
type World = {
  servers: Servers;
  /** What a device watched, as the history writer leaves it. */
  watch: (deviceId: string, views: readonly View[]) => Promise<void>;
  /** Many devices at once, each having watched one creative so often, ten minutes apart. */
  watchMuch: (devices: number, times: number) => Promise<void>;
  decide: (
    records: readonly { deviceId: string; minutesAgo: number; placed: readonly string[]; spare: number }[],
  ) => Promise<void>;
};

const recordOf = (index: number, creativeId: string, at: number): string =>
  JSON.stringify([String(index).padStart(11, 'A'), at, creativeId, 'k-1', 'acme.example', ['auto']]);

const openWorld = (servers: Servers, redis: Redis): World => {
  const keys = createKeys(servers.keyPrefix);
  const nowMs = Date.now();
  const members = (views: readonly View[]) =>
    views.flatMap(({ creativeId, minutesAgo }, index) => {
      const at = nowMs - minutesAgo * MINUTE;
      return [at, recordOf(index, creativeId, at)];
    });
  return {
    servers,
    watch: async (deviceId, views) => {
      await redis.zadd(keys.device(deviceTag(deviceId)).history, ...members(views));
    },
    watchMuch: async (devices, times) => {
      const views = Array.from({ length: times }, (_, index) => ({
        creativeId: 'c1',
        minutesAgo: 10 * (index + 1),
      }));
      const writing = redis.pipeline();
      for (let device = 0; device < devices; device += 1)
        writing.zadd(keys.device(deviceTag(`tv-${device}`)).history, ...members(views));
      await writing.exec();
    },
    decide: async (records) => {
      const topic = topicName('decisions', servers.topicPrefix);
      const bus = { brokers: [servers.kafkaBrokers], clientId: 'test', logger };
      const producer = createProducer({ bus, topics: [topic], timeoutMs: 20_000 });
      const messages = records.map(({ deviceId, minutesAgo, placed, spare }, index) => ({
        key: deviceId,
        value: JSON.stringify({
          type: 'DECISION',
          v: 1,
          deviceId,
          breakId: `b${index}`,
          round: 1,
          breakAt: nowMs - minutesAgo * MINUTE,
          spare,
          placed: placed.map((creativeId, at) => ({ slot: at + 1, creativeId, industryIds: [] })),
        }),
      }));
      await producer.send(topic, [...messages, { key: 'old', value: '{"type":"DECISION","v":1}' }]);
      await producer.close();
    },
  };
};

const test = base.extend<{ world: World; service: RulesService }>({
  world: async ({ redisUrl, redis, kafkaBrokers, keyPrefix, topicPrefix, topics: _topics }, use) =>
    use(openWorld({ redisUrl, kafkaBrokers, keyPrefix, topicPrefix }, redis)),
  service: async ({ world }, use) => {
    await using service = await startRulesService(world.servers);
    await service.whenUp();
    await use(service);
  },
});

const ask = async (service: RulesService, body: unknown, token = 'a-viewer') => {
  const answer = await service.call('POST', '/v1/rules/preview', { token, body });
  return { ...answer, figures: answer.body as unknown as Figures };
};

const HOURLY = capRule('hourly', 1, { value: 'c1' });

describe('POST /v1/rules/preview', () => {
  test('replays what was watched: what the draft blocks, by which rule, how many devices', async ({
    world,
    service,
  }) => {
    const { watch } = world;
    await watch('tv-1', [
      { creativeId: 'c1', minutesAgo: 200 },
      { creativeId: 'c1', minutesAgo: 170 },
      { creativeId: 'c1', minutesAgo: 130 },
      { creativeId: 'c2', minutesAgo: 129 },
    ]);
    await watch('tv-2', [{ creativeId: 'c1', minutesAgo: 10 }]);
    const { status, figures } = await ask(service, { rules: [HOURLY] });
    expect(status).toBe(200);
    expect(figures).toMatchObject({
      rulesVersion: 1,
      impressions: 5,
      blocked: 1,
      blockedShare: 0.2,
      interval: { low: 0.2, high: 0.2 },
      newlyBlocked: 1,
      newlyBlockedShare: 0.2,
      newlyAllowed: 0,
      devices: 1,
      byRule: [{ ruleId: 'hourly', blocked: 1, newlyBlocked: 1, devices: 1 }],
      sampled: 2,
      population: 2,
      isPartial: false,
      lostFillReason: 'no_decisions',
    });
    expect(figures).not.toHaveProperty('lostFill');
    expect(figures.warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^would have blocked 20\.0 % .*: hourly 20\.0 %$/),
    ]);
  });

  test('compares with the rules in force, and changes nothing', async ({ world, service }) => {
    await world.watchMuch(3, 4);
    expect((await put(service, '"1"', { rules: [HOURLY] })).body.version).toBe(2);
    const same = await ask(service, { rules: [HOURLY] });
    expect(same.figures).toMatchObject({
      rulesVersion: 2,
      blocked: 9,
      newlyBlocked: 0,
      newlyAllowed: 0,
      warnings: [],
    });
    const none = await ask(service, { rules: [] });
    expect(none.figures).toMatchObject({ blocked: 0, newlyBlocked: 0, newlyAllowed: 9 });
    const { body } = await service.call('GET', '/v1/rules', { token: 'a-viewer' });
    expect(body).toMatchObject({ version: 2, rules: [{ id: 'hourly' }] });
  });

  test('looks at as many devices as asked, and from when on', async ({ world, service }) => {
    await world.watchMuch(400, 3);
    const { figures } = await ask(service, { rules: [HOURLY], sample: 50 });
    expect([figures.sampled, figures.impressions]).toEqual([50, 150]);
    // Two of three by the rule: all devices alike, so the error is that of 50 devices.
    expect(figures.blockedShare).toBeCloseTo(2 / 3);
    expect(figures.interval.low).toBeLessThan(2 / 3);
    const since = Date.now() - 15 * MINUTE;
    for (const instant of [since, new Date(since).toISOString()]) {
      const late = await ask(service, { rules: [HOURLY], sample: 20, since: instant });
      expect(late.figures).toMatchObject({ impressions: 20, blocked: 20, since });
    }
  });

  test('says what slots recorded decisions would have lost', async ({ world, service }) => {
    const { watch, decide } = world;
    await watch('tv-1', [{ creativeId: 'c1', minutesAgo: 30 }]);
    await watch('tv-2', [{ creativeId: 'c1', minutesAgo: 90 }]);
    await decide([
      { deviceId: 'tv-1', minutesAgo: 20, placed: ['c1', 'c2'], spare: 0 },
      { deviceId: 'tv-1', minutesAgo: 10, placed: ['c1'], spare: 3 },
      { deviceId: 'tv-2', minutesAgo: 20, placed: ['c1'], spare: 0 },
      { deviceId: 'without-history', minutesAgo: 20, placed: ['c1'], spare: 0 },
    ]);
    const { figures } = await ask(service, { rules: [HOURLY] });
    expect(figures.lostFill).toMatchObject({ decisions: 3, devices: 2, slots: 4, lost: 1 });
    expect(figures).not.toHaveProperty('lostFillReason');
  });

  test('ends when its time is up, with what it has seen by then', async ({ world }) => {
    await world.watchMuch(3_000, 30);
    await using service = await startRulesService(world.servers, { ADCAP_RULES_PREVIEW_LIMIT_MS: '150' });
    await service.whenUp();
    const { status, figures } = await ask(service, { rules: [HOURLY] });
    expect([status, figures.isPartial]).toEqual([200, true]);
    expect(figures.sampled).toBeLessThan(3_000);
    expect(figures.impressions).toBe(figures.sampled * 30);
    expect(figures.warnings.map(({ field }) => field)).toContain('preview');
  });

  test('one at a time: another is told to come again, one whose client has gone ends', async ({
    world,
    service,
  }) => {
    await world.watchMuch(4_000, 30);
    const leaving = new AbortController();
    const first = fetch(`${service.address}/v1/rules/preview`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: 'Bearer a-viewer', 'content-type': 'application/json' },
      body: JSON.stringify({ rules: [HOURLY] }),
    });
    const second = await waitFor(
      async () => {
        const answer = await ask(service, { rules: [], sample: 1 });
        return answer.status === 429 ? answer : undefined;
      },
      { what: 'the first one is being made' },
    );
    expect(second.body.code).toBe('ADCAP_RULES_PREVIEW_BUSY');
    expect(second.headers.get('retry-after')).toMatch(/^\d+$/);
    const validated = await service.call('POST', '/v1/rules/validate?preview=true', {
      token: 'a-viewer',
      body: { rules: [HOURLY] },
    });
    expect(validated.body).toEqual({ errors: [], warnings: [], previewReason: 'busy' });
    leaving.abort();
    await expect(first).rejects.toThrow(/abort/);
    await waitFor(async () => (await ask(service, { rules: [], sample: 1 })).status === 200, {
      what: 'a place for the next one',
      timeoutMs: 1_000,
    });
    const metrics = await fetch(`${service.address}/metrics`);
    expect(await metrics.text()).toMatch(/adcap_rules_previews_total\{outcome="gone"\} 1\n/);
  });

  test.for([
    ['a wrong rule', { rules: [capRule('c1', 0)] }, 'ADCAP_RULES_INVALID', 'limit.max'],
    ['no rules', {}, 'ADCAP_RULES_INVALID', 'rules'],
    ['no object', [], 'ADCAP_RULES_INVALID', ''],
    ['null', null, 'ADCAP_RULES_INVALID', ''],
    ['a field that is none', { rules: [], sampel: 3 }, 'ADCAP_RULES_INVALID', 'sampel'],
    ['too many devices', { rules: [], sample: 10_001 }, 'ADCAP_REQUEST_INVALID', 'sample'],
    ['no device', { rules: [], sample: 0 }, 'ADCAP_REQUEST_INVALID', 'sample'],
    ['epoch seconds', { rules: [], since: 1_764_500_000 }, 'ADCAP_REQUEST_INVALID', 'since'],
  ] as const)('refuses %s', async ([, body, code, field], { service }) => {
    const answer = await ask(service, JSON.stringify(body));
    expect([answer.status, answer.body.code, answer.body.errors?.[0]?.field]).toEqual([400, code, field]);
  });

  test('without Kafka only the lost fill is missing, and before there are rules it compares with none', async ({
    world,
  }) => {
    await world.watchMuch(2, 3);
    const away = { ...world.servers, kafkaBrokers: `127.0.0.1:${await freePort()}` };
    await using service = await startRulesService(away);
    const { status, figures } = await waitFor(
      async () => {
        const answer = await ask(service, { rules: [HOURLY] });
        return answer.status === 503 ? undefined : answer;
      },
      { what: 'the connection to Redis' },
    );
    expect([status, figures.rulesVersion, figures.newlyBlocked]).toEqual([200, null, 4]);
    expect(figures.lostFillReason).toBe('bus_unavailable');
  });

  test('without Redis there is nothing to try a draft on: 503, and the next one has its place', async ({
    world,
  }) => {
    const away = { ...world.servers, redisUrl: `redis://127.0.0.1:${await freePort()}` };
    await using service = await startRulesService(away);
    for (let round = 0; round < 2; round += 1) {
      const answer = await ask(service, { rules: [HOURLY] });
      expect([answer.status, answer.body.code]).toEqual([503, 'ADCAP_STORE_UNAVAILABLE']);
    }
    const validated = await service.call('POST', '/v1/rules/validate?preview=true', {
      token: 'a-viewer',
      body: { rules: [HOURLY] },
    });
    expect(validated.body).toEqual({ errors: [], warnings: [], previewReason: 'store_unavailable' });
  });

  test('is described: the draft with what may be asked beside it', async ({ service }) => {
    const api = await fetch(`${service.address}/openapi.json`);
    const described = JSON.stringify(await api.json());
    const path = described.slice(described.indexOf('/v1/rules/preview'));
    for (const name of [
      '"sample":',
      '"since":',
      '"rules":',
      '"dimensions":',
      '"newlyBlockedShare":',
      '"lostFillReason":',
    ])
      expect(path).toContain(name);
  });

  test('is for viewers, and says when there is nothing to try a draft on', async ({ service }) => {
    expect((await ask(service, { rules: [] }, 'nobody')).status).toBe(401);
    const { status, figures } = await ask(service, { rules: [HOURLY] });
    expect([status, figures.sampled, figures.population]).toEqual([200, 0, 0]);
    expect(figures.warnings.map(({ message }) => message)).toEqual([
      'nothing was watched that a draft could be tried on',
    ]);
  });
});

describe('POST /v1/rules/validate?preview=true', () => {
  test('adds the preview and its warnings', async ({ world, service }) => {
    await world.watchMuch(5, 4);
    const draft = { rules: [HOURLY] };
    const validate = (query: string) =>
      service.call('POST', `/v1/rules/validate${query}`, { token: 'a-viewer', body: draft });
    const { body } = await validate('?preview=true');
    expect(body).toMatchObject({ errors: [], preview: { impressions: 20, blocked: 15 } });
    expect(body.warnings?.map(({ ruleId }) => ruleId)).toContain('(rule set)');
    expect((await validate('')).body).toEqual({ errors: [], warnings: [] });
    expect((await validate('?preview=yes')).status).toBe(400);
  });
});
