import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';
import { put, type RulesService } from './start-rules-service.ts';

const cap = (max: number, window = '60m') => ({ max, window });

const effective = (service: RulesService, query: string) =>
  service.call('GET', `/v1/rules/effective?${query}`, { token: 'a-viewer' });

/** `rule fate because`, in the order of the ladder. */
const fatesOf = async (service: RulesService, query: string) => {
  const { status, body } = await effective(service, query);
  expect([query, status]).toEqual([query, 200]);
  const rules = body.rules as { ruleId?: string; fate?: string; because?: string }[] | undefined;
  return rules?.map(({ ruleId, fate, because }) => [ruleId, fate, because].filter(Boolean).join(' '));
};

const SET = {
  dimensions: { industry: 'off' },
  rules: [
    { id: 'every-creative', dimension: 'creative', limit: cap(3) },
    { id: 'every-brand', dimension: 'brand', limit: cap(5, '120m') },
    { id: 'every-industry', dimension: 'industry', limit: cap(9) },
    { id: 'c1', dimension: 'creative', value: 'c1', limit: cap(2) },
    { id: 'sponsor', dimension: 'brand', value: 'https://www.Sponsor.example/', limit: 'OFF' },
    { id: 'recall', dimension: 'campaign', value: 'k9', limit: 'BLOCK' },
    { id: 'final', dimension: 'creative', value: 'c2', limit: cap(4), final: true },
    {
      id: 'sports',
      dimension: 'campaign',
      value: 'k1',
      limit: cap(1),
      when: { channel: ['sports', 'news'] },
    },
    {
      id: 'spring',
      dimension: 'campaign',
      value: 'k1',
      limit: cap(6, '24h'),
      startsAt: '2026-03-01T00:00:00Z',
      endsAt: '2026-06-01T00:00:00Z',
    },
    { id: 'tried', dimension: 'campaign', value: 'k1', limit: cap(1, '10m'), mode: 'shadow' },
    { id: 'resting', dimension: 'campaign', value: 'k1', limit: cap(1, '20m'), enabled: false },
  ],
};

describe('GET /v1/rules/effective', () => {
  test('tells which rules apply to an ad, and what replaced, ended or hides the others', async ({
    service,
  }) => {
    expect((await put(service, '"1"', SET)).status).toBe(200);
    expect(await fatesOf(service, 'creativeId=c1&brandId=acme.example&industryIds=cars,food')).toEqual([
      'c1 applies',
      'every-creative replaced c1',
      'every-brand applies',
      'every-industry dimension_off',
      'every-industry dimension_off',
    ]);
    // B20: a brand in any spelling; B15: a sponsor OFF frees from what is below, a specific creative cap holds.
    expect(await fatesOf(service, 'creativeId=c1&brandId=SPONSOR.example.')).toEqual([
      'c1 applies',
      'sponsor applies',
      'every-creative ended sponsor',
      'every-brand ended sponsor',
    ]);
    expect(await fatesOf(service, 'creativeId=c2&brandId=sponsor.example')).toEqual([
      'final applies',
      'sponsor ended final',
      'every-creative ended final',
      'every-brand ended final',
    ]);
    const blocked = await effective(service, 'creativeId=c1&campaignId=k9');
    expect(blocked.body).toMatchObject({ version: 2, blockedBy: 'recall', caps: [] });
    expect(await fatesOf(service, 'creativeId=c1&campaignId=k9')).toEqual([
      'c1 hidden recall',
      'recall applies',
      'every-creative replaced c1',
    ]);
  });

  test('judges context and time as a decision at that instant would', async ({ service }) => {
    await put(service, '"1"', SET);
    const campaign = async (more: string) =>
      (await fatesOf(service, `creativeId=c9&campaignId=k1${more}`))?.filter(
        (fate) => !fate.startsWith('every'),
      );
    const during = '&at=2026-03-01T00:00:00Z';
    expect(await campaign(`${during}&context.channel=kids,news`)).toEqual([
      'sports applies',
      'spring applies',
      'tried shadow',
      'resting disabled',
    ]);
    expect(await campaign('&at=2026-06-01T00:00:00Z&context.channel=kids')).toEqual([
      'sports when_does_not_fit',
      'spring not_in_time',
      'tried shadow',
      'resting disabled',
    ]);
    const { body } = await effective(service, `creativeId=c9&campaignId=k1${during}&context.channel=news`);
    expect(body).toMatchObject({
      at: Date.parse('2026-03-01T00:00:00Z'),
      blockedBy: null,
      caps: [
        { ruleId: 'sports', value: 'k1' },
        { ruleId: 'spring', value: 'k1' },
        { ruleId: 'every-creative', value: 'c9' },
      ],
    });
    expect(body.rules?.[1]).toMatchObject({
      ruleId: 'spring',
      rung: 'specific campaign',
      value: 'k1',
      limit: 'cap',
      max: 6,
      windowMs: 86_400_000,
    });
  });

  test('is described with its parameters', async ({ service }) => {
    const response = await fetch(`${service.address}/openapi.json`);
    const { paths } = (await response.json()) as {
      paths: Record<string, { get: { parameters: { name: string; required: boolean }[] } }>;
    };
    const parameters = paths['/v1/rules/effective']?.get.parameters;
    expect(parameters?.map(({ name, required }) => `${name} ${required}`)).toEqual([
      'creativeId true',
      'campaignId false',
      'brandId false',
      'industryIds false',
      'at false',
    ]);
  });

  test('refuses what it cannot read by its field, a misspelt one too', async ({ service }) => {
    const asked = [
      ['', 'querystring.creativeId'],
      ['creativeId=%5BCID%5D', 'querystring.creativeId'],
      ['creativeId=c1&brandid=b', 'querystring.brandid'],
      ['creativeId=c1&at=1700000000', 'querystring.at'],
      ['creativeId=c1&at=2026-03-01T00:00:00', 'querystring.at'],
      ['creativeId=c1&context.=x', 'querystring.context.'],
      ['creativeId=c1&creativeId=c2', 'querystring.creativeId'],
    ] as const;
    const refused = await Promise.all(
      asked.map(async ([query]) => {
        const { status, body } = await effective(service, query);
        return [status, query, body.errors?.[0]?.field];
      }),
    );
    expect(refused).toEqual(asked.map(([query, field]) => [400, query, field]));
  });
});
