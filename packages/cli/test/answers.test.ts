import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { runCli } from '../src/program.ts';
import { aCall } from './a-call.ts';

type Answer = { status: number; body?: unknown; headers?: Record<string, string> } | 'hang up';

const IN_FORCE: Answer = {
  status: 200,
  headers: { etag: '"7"' },
  body: { version: 7, dimensions: {}, rules: [] },
};
const FILE = 'rules:\n  - { id: a, dimension: creative, limit: { max: 3, window: 60m } }\n';

/** Answers as the rules service does where a test cannot bring the real one to it. */
const serve = async (answers: Readonly<Record<string, Answer>>) => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const call = `${request.method} ${request.url}`;
    requests.push(`${call} ${request.headers['if-match'] ?? ''}`.trim());
    request.resume().on('end', () => {
      const answer = answers[call] ?? { status: 404 };
      if (answer === 'hang up') return response.destroy();
      return response
        .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
        .end(JSON.stringify(answer.body ?? {}));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
};

const apply = async (answers: Readonly<Record<string, Answer>>, ...options: string[]) => {
  await using server = await serve({ 'GET /v1/rules': IN_FORCE, ...answers });
  await using call = await aCall({ 'rules.yaml': FILE }, { token: 't' });
  const args = ['rules', 'apply', 'rules.yaml', '--note', 'n', '--url', server.url, ...options];
  const code = await runCli(args, call.env);
  return { code, out: call.out, last: call.err.at(-1), err: call.err, requests: server.requests };
};

const put = (status: number, body: unknown): Readonly<Record<string, Answer>> => ({
  'PUT /v1/rules': { status, body },
});

describe('adcap rules apply', () => {
  test('names what it was compared to, and says so where there is no preview', async () => {
    const { code, requests, err } = await apply(put(200, { version: 8 }), '--yes');
    expect([code, requests]).toEqual([0, ['GET /v1/rules', 'POST /v1/rules/preview', 'PUT /v1/rules "7"']]);
    expect(err).toContain('no preview is available: this service has none');
  });

  test.for([
    ['unchanged', 6, 'Nothing was changed'],
    ['stored', 7, 'Do not send it again'],
    ['unknown', 7, 'may be in force or not'],
  ] as const)('tells apart what a 503 leaves: %s', async ([state, exit, detail]) => {
    const body = { code: 'ADCAP_BUS_UNAVAILABLE', state, detail, version: 8 };
    const { code, last } = await apply(put(503, body), '--yes');
    expect(code).toBe(exit);
    expect(last).toBe(`adcap: HTTP 503: ADCAP_BUS_UNAVAILABLE: ${detail}`);
  });

  test('an answer that was lost may have been a yes', async () => {
    const { code, last } = await apply({ 'PUT /v1/rules': 'hang up' }, '--yes');
    expect(code).toBe(7);
    expect(last).toContain('may be in force or not');
  });

  test('a service that is away, or is none, changes nothing', async () => {
    expect(await apply({ 'GET /v1/rules': 'hang up' }, '--yes')).toMatchObject({ code: 6 });
    expect(await apply({ 'GET /v1/rules': { status: 200, body: { hello: 1 } } }, '--yes')).toMatchObject({
      code: 5,
      last: expect.stringContaining('no rule set that this release knows'),
    });
    const elsewhere = { status: 307, headers: { location: 'http://127.0.0.1:1/v1/rules' } };
    expect(await apply({ 'GET /v1/rules': elsewhere }, '--yes')).toMatchObject({ code: 6 });
  });

  test('shows the preview, and asks twice where the change would have blocked more than 5 %', async () => {
    const previewed = (blocked: number): Readonly<Record<string, Answer>> => ({
      ...put(200, { version: 8 }),
      'POST /v1/rules/preview': {
        status: 200,
        body: {
          impressions: 1_000,
          blocked: 300,
          blockedShare: 0.3,
          newlyBlocked: blocked,
          newlyBlockedShare: blocked / 1_000,
          sampled: 10,
        },
      },
    });
    const few = await apply(previewed(50), '--yes');
    expect([few.code, few.out[1]]).toEqual([
      0,
      'preview: 300 of 1000 impressions would have been blocked, 50 of them by the change (5.0 %)',
    ]);
    const many = await apply(previewed(51), '--yes');
    expect([many.code, many.out.at(-1), many.requests.length]).toEqual([
      3,
      "think twice: 5.1 % of yesterday's impressions would have been blocked by this change",
      2,
    ]);
    expect((await apply(previewed(51), '--yes', '--force')).code).toBe(0);
  });

  test('a preview that fails is no reason not to apply', async () => {
    const { code, err } = await apply(
      { ...put(200, { version: 8 }), 'POST /v1/rules/preview': { status: 503, body: { detail: 'busy' } } },
      '--yes',
    );
    expect([code, err[1]]).toEqual([0, 'no preview is available: HTTP 503: busy']);
  });
});
