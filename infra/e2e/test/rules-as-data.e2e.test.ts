import { waitFor } from '@adcap/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSuite, type Suite } from './suite.ts';

const MINUTE = 60_000;
/** Ages are a little older when they arrive; breaks are asked about a little later still. */
const LATER = 5_000;

let suite: Suite;
beforeAll(async () => {
  suite = await openSuite();
});
afterAll(() => suite[Symbol.asyncDispose]());

const cap = (max: number, window: string) => ({ max, window });

/** Changes the rules as an editor does, and waits until decisions are made by them. */
const change = async (method: string, path: string, body?: unknown): Promise<void> => {
  const response = await fetch(suite.url('RULES', path), {
    method,
    headers: {
      'if-match': '*',
      authorization: `Bearer ${suite.tokens.editor}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect([method, path, response.ok]).toEqual([method, path, true]);
  const { version } = (await response.json()) as { version: number };
  const candidates = [{ creativeId: 'any' }];
  await waitFor(
    async () => {
      const breakAt = Date.now() + LATER;
      const answer = await suite.select({ deviceId: 'nobody', breakId: `b${breakAt}`, breakAt, candidates });
      return answer.rulesVersion === version;
    },
    { what: `decisions by version ${version}` },
  );
};

type Ad = { creativeId: string; campaignId?: string; brandId?: string; industryIds?: string[] };

const watched = async (deviceId: string, ads: readonly (Ad & { minutesAgo: number })[]): Promise<void> => {
  const impressions = ads.map(({ minutesAgo, ...ad }, index) => ({
    deviceId,
    ...ad,
    impressionId: `i${index}`,
    ageMs: minutesAgo * MINUTE,
  }));
  await suite.watch(impressions);
  await suite.untilApplied(deviceId, ads.length);
};

/** `remaining`, and the rule that blocks. */
const standing = async (deviceId: string, ad: Ad, offsetMs = 0) => {
  const breakAt = Date.now() + LATER + offsetMs;
  const answer = await suite.select({ deviceId, breakId: `b${breakAt}`, breakAt, candidates: [ad] });
  const [candidate] = answer.candidates;
  return [candidate?.remaining, candidate?.blockedBy?.ruleId];
};

test('B14 an hourly and a daily cap on one creative keep their own numbers', async () => {
  await change('PUT', '/v1/rules', {
    rules: [
      { id: 'hourly', dimension: 'creative', value: 'c14', limit: cap(2, '60m') },
      { id: 'daily', dimension: 'creative', value: 'c14', limit: cap(4, '24h') },
    ],
  });
  await watched('b14', [
    { creativeId: 'c14', minutesAgo: 30 },
    { creativeId: 'c14', minutesAgo: 10 },
    { creativeId: 'c14', minutesAgo: 90 },
  ]);
  expect(await standing('b14', { creativeId: 'c14' })).toEqual([0, 'hourly']);
  expect(await standing('b14', { creativeId: 'c14' }, 55 * MINUTE)).toEqual([1, undefined]);
});

test('B15 caps of several dimensions all apply; OFF frees, a specific creative cap holds, final lifts', async () => {
  const spot = { id: 'spot', dimension: 'creative', value: 'c15', limit: cap(1, '60m') };
  const ad = { creativeId: 'c15', brandId: 'b15', industryIds: ['i15'] };
  await change('PUT', '/v1/rules', {
    rules: [
      { id: 'creatives', dimension: 'creative', limit: cap(3, '60m') },
      { id: 'brands', dimension: 'brand', limit: cap(5, '120m') },
      { id: 'industries', dimension: 'industry', limit: cap(5, '120m') },
    ],
  });
  const others = [1, 2, 3, 4].map((n) => ({ ...ad, creativeId: `other-${n}`, minutesAgo: 20 + n }));
  await watched('b15', [{ ...ad, minutesAgo: 5 }, ...others]);
  expect(await standing('b15', ad)).toEqual([0, 'brands']);

  await change('POST', '/v1/rules', { id: 'sponsor', dimension: 'brand', value: 'b15', limit: 'OFF' });
  expect(await standing('b15', ad)).toEqual([null, undefined]);
  await change('POST', '/v1/rules', spot);
  expect(await standing('b15', ad)).toEqual([0, 'spot']);

  await change('DELETE', '/v1/rules/sponsor');
  await change('PUT', '/v1/rules/spot', { ...spot, limit: cap(10, '60m') });
  expect(await standing('b15', ad)).toEqual([0, 'brands']);
  await change('PUT', '/v1/rules/spot', { ...spot, limit: cap(10, '60m'), final: true });
  expect(await standing('b15', ad)).toEqual([9, undefined]);

  await change('DELETE', '/v1/rules/spot');
  await change('PUT', '/v1/dimensions/brand', { state: 'off' });
  expect(await standing('b15', ad)).toEqual([0, 'industries']);
});

test('B16 a campaign’s cap counts all its creatives, by the campaign at view time', async () => {
  await change('PUT', '/v1/rules', {
    rules: [{ id: 'k1', dimension: 'campaign', value: 'k1', limit: cap(2, '60m') }],
  });
  await watched('b16', [
    { creativeId: 'c1', campaignId: 'k1', minutesAgo: 20 },
    { creativeId: 'c2', campaignId: 'k1', minutesAgo: 10 },
  ]);
  expect(await standing('b16', { creativeId: 'c1', campaignId: 'k1' })).toEqual([0, 'k1']);
  expect(await standing('b16', { creativeId: 'c2', campaignId: 'k1' })).toEqual([0, 'k1']);
  expect(await standing('b16', { creativeId: 'c3', campaignId: 'k2' })).toEqual([null, undefined]);
  // c2 has moved to another campaign: its views stay where they were watched.
  await change('POST', '/v1/rules', { id: 'k2', dimension: 'campaign', value: 'k2', limit: cap(2, '60m') });
  expect(await standing('b16', { creativeId: 'c2', campaignId: 'k2' })).toEqual([2, undefined]);
  expect(await standing('b16', { creativeId: 'c1', campaignId: 'k1' })).toEqual([0, 'k1']);
});

test('B20 one advertiser under four spellings fills one cap that is written in a fifth', async () => {
  await change('PUT', '/v1/rules', {
    rules: [
      { id: 'acme', dimension: 'brand', value: 'HTTP://www.ACME.example:443/home', limit: cap(4, '60m') },
    ],
  });
  const spellings = ['https://Acme.example/', 'acme.example', 'www.acme.example', 'ACME.EXAMPLE.'];
  await watched(
    'b20',
    [...spellings, 'api.acme.example', 'acme-example'].map((brandId, index) => ({
      creativeId: `c${index}`,
      brandId,
      minutesAgo: 10 + index,
    })),
  );
  // oxlint-disable-next-line no-await-in-loop
  for (const brandId of spellings)
    expect(await standing('b20', { creativeId: 'new', brandId })).toEqual([0, 'acme']);
  // oxlint-disable-next-line no-await-in-loop
  for (const brandId of ['api.acme.example', 'acme-example'])
    expect(await standing('b20', { creativeId: 'new', brandId })).toEqual([null, undefined]);
});
