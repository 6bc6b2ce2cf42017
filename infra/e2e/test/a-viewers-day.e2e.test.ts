import { waitFor } from '@adcap/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSuite, type Suite } from './suite.ts';

const MINUTE = 60_000;
/** Ages are a little older when they arrive; breaks are asked about a little later still. */
const LATER = 5_000;

let suite: Suite;
beforeAll(async () => {
  suite = await openSuite();
});
afterAll(() => suite[Symbol.asyncDispose]());

const ask = (deviceId: string, creativeId: string, offsetMs = 0) => {
  const breakAt = Date.now() + LATER + offsetMs;
  return { deviceId, breakId: `b${breakAt}`, breakAt, candidates: [{ creativeId }] };
};
const remaining = async (deviceId: string, creativeId: string, offsetMs = 0) =>
  (await suite.select(ask(deviceId, creativeId, offsetMs))).candidates[0]?.remaining;

type RuleSet = { version: number; dimensions: object; rules: { id: string }[] };

const readRules = async (): Promise<RuleSet> => {
  const response = await fetch(suite.url('RULES', '/v1/rules'), {
    headers: { authorization: `Bearer ${suite.tokens.viewer}` },
  });
  return response.json() as Promise<RuleSet>;
};

const putRules = async (change: (rules: { id: string }[]) => object[]): Promise<number> => {
  const { version, dimensions, rules } = await readRules();
  const response = await fetch(suite.url('RULES', '/v1/rules'), {
    method: 'PUT',
    headers: {
      'content-type': 'application/json',
      'if-match': `"${version}"`,
      authorization: `Bearer ${suite.tokens.editor}`,
    },
    body: JSON.stringify({ dimensions, rules: change(rules) }),
  });
  expect(response.status).toBe(200);
  return version + 1;
};

describe('from a beacon to a decision', () => {
  test('law 1: blocked now, allowed in 13 minutes, allowed 30 minutes ago', async () => {
    const views = [48, 20, 5].map((minutes, index) => ({
      deviceId: 'law-1',
      creativeId: 'sneaker-30',
      impressionId: `i${index}`,
      ageMs: minutes * MINUTE,
    }));
    expect(await suite.watch(views)).toMatchObject({ accepted: 3, duplicates: 0 });
    await suite.untilApplied('law-1', 3);
    const now = await suite.select(ask('law-1', 'sneaker-30'));
    expect(now).toMatchObject({
      source: 'quotas',
      degraded: false,
      candidates: [{ outcome: 'capped', blockedBy: { ruleId: 'any-creative-hourly', used: 3, max: 3 } }],
    });
    expect(await remaining('law-1', 'sneaker-30', 13 * MINUTE)).toBe(1);
    expect(await remaining('law-1', 'sneaker-30', -30 * MINUTE)).toBe(2);
  });

  test('B01 three views in one ms count three, one told three times counts once', async () => {
    const view = (deviceId: string, impressionId: string) => ({
      deviceId,
      creativeId: 'c1',
      impressionId,
      ageMs: MINUTE,
    });
    await suite.watch(['a', 'b', 'c'].map((id) => view('b01-1', id)));
    expect(await suite.watch(['a', 'a', 'a'].map((id) => view('b01-2', id)))).toMatchObject({
      accepted: 1,
      duplicates: 2,
    });
    await suite.untilApplied('b01-1', 3);
    await suite.untilApplied('b01-2', 1);
    expect(await remaining('b01-1', 'c1')).toBe(0);
    expect(await remaining('b01-2', 'c1')).toBe(2);
  });

  test('B20 four spellings of a brand fill one cap', async () => {
    const brands = ['https://Acme.example/', 'ACME.EXAMPLE.', 'api.acme.example', 'acme-example'];
    await suite.watch(
      brands.map((brandId, index) => ({
        deviceId: 'b20',
        creativeId: `c${index}`,
        brandId,
        impressionId: `i${index}`,
        ageMs: MINUTE,
      })),
    );
    await suite.untilApplied('b20', 4);
    const candidates = ['www.acme.example', 'api.acme.example'].map((brandId) => ({
      creativeId: 'new',
      brandId,
    }));
    const answer = await suite.select({ ...ask('b20', 'new'), candidates });
    expect(answer.candidates).toMatchObject([
      { outcome: 'capped', blockedBy: { ruleId: 'acme-hourly' } },
      { outcome: 'allowed' },
    ]);
  });

  test('B26 a late view counts at the time it was watched', async () => {
    await suite.watch([{ deviceId: 'b26', creativeId: 'c1', impressionId: 'late', ageMs: 90 * MINUTE }]);
    await suite.untilApplied('b26', 1);
    expect(await remaining('b26', 'c1')).toBe(3);
    expect(await remaining('b26', 'c1', -60 * MINUTE)).toBe(2);
  });

  test('B29 reserved, then viewed by the pixel of its token: counted once', async () => {
    const pod = await suite.select({ ...ask('b29', 'promo-once'), breakId: 'first', slots: 1 });
    expect(pod.candidates[0]?.outcome).toBe('placed');
    expect(await remaining('b29', 'promo-once')).toBe(0);
    const pixel = suite.url('BEACON', `/v1/pixel.gif?t=${pod.pod[0]?.reservationId}`);
    const responses = [await fetch(pixel), await fetch(pixel)];
    expect(responses.map((response) => response.headers.get('x-adcap-outcome'))).toEqual([
      'accepted',
      'duplicate',
    ]);
    await suite.untilApplied('b29', 1);
    const after = await suite.select(ask('b29', 'promo-once'));
    expect(after.candidates[0]).toMatchObject({ remaining: 0, blockedBy: { used: 1, reserved: 0 } });
  });

  test('B32 and B36 one pixel URL twenty times at once: one view, never cached', async () => {
    const url = suite.url('BEACON', '/v1/pixel.gif?deviceId=b32&creativeId=c1&impressionId=x');
    const responses = await Promise.all(Array.from({ length: 20 }, () => fetch(url)));
    expect(responses.filter((one) => one.headers.get('x-adcap-outcome') === 'accepted')).toHaveLength(1);
    for (const response of responses) {
      expect(response.headers.get('cache-control')).toContain('no-store');
      expect(response.headers.get('etag')).toBeNull();
    }
    await suite.untilApplied('b32', 1);
    expect(await remaining('b32', 'c1')).toBe(2);
  });

  test('an erased device starts anew, and a replay of its views does not bring them back', async () => {
    await suite.watch([{ deviceId: 'erased', creativeId: 'c1', impressionId: 'x', ageMs: MINUTE }]);
    await suite.untilApplied('erased', 1);
    const response = await fetch(suite.url('AD_SELECTION', '/v1/devices/erased'), {
      method: 'DELETE',
      headers: { authorization: `Bearer ${suite.tokens.operator}` },
    });
    expect(response.status).toBe(204);
    expect(await remaining('erased', 'c1')).toBe(3);
  });
});

describe('rules are data', () => {
  test('B23 a changed cap, and a new one without counters, act in the running services', async () => {
    await suite.watch(
      [2, 1].map((minutes) => ({
        deviceId: 'b23',
        creativeId: 'c23',
        industryIds: ['cars'],
        impressionId: `i${minutes}`,
        ageMs: minutes * MINUTE,
      })),
    );
    await suite.untilApplied('b23', 2);
    const acts = (what: string, expected: object) =>
      waitFor(
        async () => {
          const candidates = [{ creativeId: 'c23', industryIds: ['cars'] }];
          const answer = await suite.select({ ...ask('b23', 'c23'), candidates });
          expect(answer.candidates[0]).toMatchObject(expected);
          return answer;
        },
        { what },
      );
    const spot = { id: 'b23-spot', dimension: 'creative', value: 'c23', limit: { max: 2, window: '60m' } };
    const version = await putRules((rules) => [...rules, spot]);
    expect(
      (await acts('2 in 60 minutes', { remaining: 0, blockedBy: { ruleId: 'b23-spot' } })).rulesVersion,
    ).toBe(version);
    await putRules((rules) =>
      rules.map((rule) => (rule.id === 'b23-spot' ? { ...spot, limit: { max: 2, window: '90s' } } : rule)),
    );
    await acts('2 in 90 seconds', { remaining: 1 });
    const industry = {
      id: 'b23-cars',
      dimension: 'industry',
      value: 'cars',
      limit: { max: 1, window: '30m' },
    };
    await putRules((rules) => [...rules, industry]);
    await acts('a cap that has no counters', { remaining: 0, blockedBy: { ruleId: 'b23-cars', used: 2 } });
    await putRules((rules) => rules.filter(({ id }) => id !== 'b23-cars' && id !== 'b23-spot'));
    await acts('back as it was', { remaining: 1 });
  });

  test('B14 wrong rules are refused whole, by rule and field, and the rules in force stay', async () => {
    const { version, dimensions, rules } = await readRules();
    const put = (limit: unknown, ifMatch = `"${version}"`) =>
      fetch(suite.url('RULES', '/v1/rules'), {
        method: 'PUT',
        headers: {
          'content-type': 'application/json',
          'if-match': ifMatch,
          authorization: `Bearer ${suite.tokens.editor}`,
        },
        body: JSON.stringify({
          dimensions,
          rules: [...rules, { id: 'wrong', dimension: 'campaign', limit }],
        }),
      });
    for (const max of [0, -1, 1.5, '3', null, undefined]) {
      const response = await put({ max, window: '60m' });
      expect([response.status, JSON.stringify(await response.json())]).toEqual([
        400,
        expect.stringContaining('wrong'),
      ]);
    }
    expect((await put({ max: 1, window: '60m' }, `"${version + 7}"`)).status).toBe(412);
    expect(await readRules()).toEqual({ version, dimensions, rules });
  });
});

test('every service has its documents and its metrics', async () => {
  for (const service of ['BEACON', 'AD_SELECTION', 'RULES', 'HISTORY', 'QUOTA', 'CLEANUP'] as const) {
    for (const path of ['/livez', '/readyz', '/metrics', '/openapi.json', '/documentation']) {
      const response = await fetch(suite.url(service, path));
      expect([service, path, response.status]).toEqual([service, path, 200]);
    }
    const metrics = await (await fetch(suite.url(service, '/metrics'))).text();
    expect(metrics).not.toContain('law-1');
  }
});
