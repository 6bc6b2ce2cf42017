import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from './fixtures.ts';
import { OPERATOR, rulesOf, type Selection, startSelection } from './start-selection.ts';

const NOW = Date.now();
const ask = (more: Record<string, unknown> = {}) => ({
  deviceId: 'd1',
  breakId: 'b1',
  breakAt: NOW,
  candidates: [{ creativeId: 'c1' }],
  ...more,
});
const many = (count: number, one: unknown = { creativeId: 'c1' }) => Array.from({ length: count }, () => one);

const fieldsOf = (body: Record<string, unknown>): string[] => {
  const { errors } = body;
  return Array.isArray(errors) ? errors.map(({ field }: { field: string }) => field) : [];
};

describe('a malformed envelope is 400 and names its field', () => {
  test.for([
    ['breakId', { breakId: '' }],
    ['breakId', { breakId: '[BREAK]' }],
    ['breakAt', { breakAt: '2026-03-10T03:40:00' }],
    ['breakAt', { breakAt: 'tomorrow' }],
    ['breakAt', { breakAt: null }],
    ['deviceId', { deviceId: { id: 'd1' } }],
    ['deviceId', { deviceId: 'x'.repeat(257) }],
    ['slots', { slots: 21 }],
    ['slots', { slots: -1 }],
    ['slots', { slots: '2' }],
    ['round', { round: 0 }],
    ['candidates', { candidates: many(501) }],
    ['candidates', { candidates: undefined }],
    ['deadlineMs', { deadlineMs: 0 }],
    ['podDurationMs', { podDurationMs: -1 }],
    ['reserve', { reserve: 'no' }],
  ] as const)('%s: %j', async ([field, more], { selection }) => {
    const { status, body } = await selection.post('/v1/selections', ask(more));
    expect([status, body['code'], fieldsOf(body)[0]?.split('.')[0]]).toEqual([
      400,
      'ADCAP_REQUEST_INVALID',
      field,
    ]);
  });

  test('in a batch the break is named, too', async ({ selection }) => {
    const { deviceId, ...one } = ask();
    const batch = async (breaks: readonly unknown[]) => {
      const { status, body } = await selection.post('/v1/selections/batch', { deviceId, breaks });
      return [status, fieldsOf(body)];
    };
    expect(await batch([one, { ...one, breakId: 'b2', breakAt: NOW + 40 * 3_600_000 }])).toEqual([
      400,
      ['breaks.1.breakAt'],
    ]);
    expect(await batch([one, { ...one, breakAt: NOW + 1 }])).toEqual([400, ['breaks.1.breakAt']]);
    expect(await batch([])).toEqual([400, ['breaks']]);
    expect(await batch(many(13, one))).toEqual([400, ['breaks']]);
  });

  test('hostile bodies and paths are 4xx', async ({ selection }) => {
    const headers = { 'content-type': 'application/json' };
    const statusOf = async (path: string, body?: string) =>
      (
        await fetch(`${selection.url}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { ...headers, authorization: `Bearer ${OPERATOR}` },
          ...(body === undefined ? {} : { body }),
        })
      ).status;
    expect(await statusOf('/v1/selections', '{"__proto__": {"a": 1}}')).toBe(400);
    expect(await statusOf('/v1/selections', '{"deviceId":')).toBe(400);
    expect(await statusOf('/v1/selections', '[]')).toBe(400);
    expect(await statusOf('/v1/devices/%E0%A4%A')).toBe(400);
    expect(await statusOf('/v1/devices/a%00b')).toBe(400);
    expect(await statusOf('/v1/devices/%5BIFA%5D')).toBe(400);
    expect(await statusOf('/v1/devices/d1?at=1700000000')).toBe(400);
    expect(await statusOf(`/v1/devices/${encodeURIComponent('😀'.repeat(128))}`)).toBe(200);
    expect(await statusOf(`/v1/devices/d1?at=${NOW}&at=${NOW}`)).toBe(400);
  });
});

describe('what is taken', () => {
  const outcomeOf = async (selection: Selection, more: Record<string, unknown>) => {
    const { status, body } = await selection.post('/v1/selections', ask(more));
    return [status, body.candidates?.at(-1)?.outcome];
  };

  test('the published maxima, nulls for what is missing, an instant with a zone, unknown fields', async ({
    selection,
  }) => {
    selection.setRules(rulesOf([]));
    expect(await outcomeOf(selection, { candidates: many(500) })).toEqual([200, 'allowed']);
    expect(await outcomeOf(selection, { breakId: 'b2', slots: 20, candidates: many(20) })).toEqual([
      200,
      'placed',
    ]);
    const nulls = {
      sessionId: null,
      round: null,
      slots: null,
      context: null,
      reserve: null,
      deadlineMs: null,
    };
    expect(await outcomeOf(selection, { ...nulls, breakAt: new Date(NOW).toISOString(), extra: 1 })).toEqual([
      200,
      'allowed',
    ]);
    const zoned = new Date(NOW - 5 * 3_600_000).toISOString().replace('Z', '-05:00');
    const { body } = await selection.post('/v1/selections', ask({ breakAt: zoned }));
    expect(body.breakAt).toBe(NOW);
  });

  test('lengths that are no whole milliseconds can be reserved', async ({ selection }) => {
    selection.setRules(rulesOf([]));
    const candidates = [{ creativeId: 'c1', durationMs: 14_999.98 }];
    expect(await selection.select(ask({ slots: [{ maxMs: 15_000.5 }], candidates }))).toMatchObject({
      reserved: true,
      degraded: false,
      pod: [{ slot: 1 }],
    });
  });

  test('a device’s own reservations have an end: one too many is refused and nothing of it is held', async ({
    selection,
  }) => {
    selection.setRules(rulesOf([]));
    const pod = (index: number, slots: number) =>
      ask({ breakId: `b${index}`, slots, candidates: many(slots) });
    for (let index = 0; index < 10; index += 1) {
      // oxlint-disable-next-line no-await-in-loop -- each is granted in turn
      expect(await selection.select(pod(index, 20))).toMatchObject({ reserved: true });
    }
    const { status, body } = await selection.post('/v1/selections', pod(10, 1));
    expect([status, body['code']]).toEqual([409, 'ADCAP_RESERVATIONS_FULL']);
  });
});

/** The part of an OpenAPI document that is looked at here. */
const responsesIn = z.object({
  paths: z.object({
    '/v1/selections': z.object({ post: z.object({ responses: z.record(z.string(), z.unknown()) }) }),
  }),
});

test('answers are described where nothing validates them', async ({ selection }) => {
  const document = responsesIn.parse(await (await fetch(`${selection.url}/openapi.json`)).json());
  const { responses } = document.paths['/v1/selections'].post;
  expect(responses['200']).toMatchObject({
    content: {
      'application/json': {
        schema: {
          properties: {
            source: { enum: ['quotas', 'history', 'open', 'unidentified'] },
            candidates: { items: { properties: { outcome: {}, blockedBy: {}, nextAllowedAt: {} } } },
          },
        },
      },
    },
  });
  expect(JSON.stringify(responses)).toContain('ADCAP_BREAK_EXPIRED');
});

test('a warm start holds nothing, counts no decision, and leaves nothing that lives for ever', async ({
  redis,
  redisUrl,
  keyPrefix,
}) => {
  const selection = await startSelection({ redisUrl, keyPrefix, isWarm: true });
  const keys = await redis.keys(`${keyPrefix}*`);
  expect(keys.map((key) => key.slice(key.lastIndexOf(':')))).toEqual([':m']);
  expect(await redis.pttl(keys[0] ?? '')).toBeGreaterThan(0);
  // Two for each decision: its commit and its release.
  expect(Number(await redis.hget(keys[0] ?? '', 'v'))).toBeGreaterThan(1);
  expect(await selection.registry.metrics()).not.toContain('adcap_ad_selection_decisions_total{');
  await selection.close();
});
