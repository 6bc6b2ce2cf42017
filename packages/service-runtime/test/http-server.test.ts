import { AppError } from '@adcap/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type HttpServer, problemSchema } from '../src/index.ts';
import { sendRaw, startServer } from './start-server.ts';

const candidate = z.object({
  creativeId: z.string(),
  limit: z.union([z.object({ max: z.int() }), z.enum(['OFF'])]).optional(),
});

const addRoutes = (server: HttpServer): void => {
  const body = z.object({ deviceId: z.string(), candidates: z.array(candidate) });
  server.post('/v1/things', { schema: { body } }, async (request) => ({
    got: request.body.candidates.length,
  }));
  server.put('/v1/things', async () => ({}));
  server.post('/v1/strict', { schema: { body: z.strictObject({ a: z.int() }) } }, async () => ({}));
  const querystring = z.object({
    at: z.string().regex(/^\d+$/, 'digits only').optional(),
    x: z.string().optional(),
  });
  server.get('/v1/query', { schema: { querystring } }, async (request) => ({ ...request.query }));
  const params = z.object({ deviceId: z.string().max(256) });
  server.get('/v1/devices/:deviceId', { schema: { params } }, async (request) => ({
    id: request.params.deviceId,
  }));
  server.get('/v1/stale', async () => {
    throw new AppError('ADCAP_RULES_STALE', 'version 4 is not 5', {
      fields: [{ field: 'if-match', message: 'old' }],
    });
  });
  server.get('/v1/away', async () => {
    throw new AppError('ADCAP_STORE_UNAVAILABLE', 'redis at 10.0.0.7 refused', {
      cause: new Error('ECONNREFUSED'),
    });
  });
  server.get('/v1/bug', { schema: { response: { '5xx': problemSchema } } }, async () => {
    throw new TypeError('secret-of-viewer-42 is not a function');
  });
  server.get('/v1/thrown-text', async () => {
    // oxlint-disable-next-line typescript/only-throw-error -- what a library may do
    throw 'plain text';
  });
  const response = { 200: z.object({ n: z.int() }) };
  server.get('/v1/unfit', { schema: { response } }, async () => ({ n: 0.5 }));
};

let running: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  running = await startServer(addRoutes);
});
afterAll(async () => running.server.close());

const json = (body: string) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body });

const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(new URL(path, running.address), init);
  const text = await response.text();
  return { response, problem: problemSchema.parse(JSON.parse(text)), text };
};

const expectProblem = (
  { response, problem }: Awaited<ReturnType<typeof ask>>,
  status: number,
  code: string,
): void => {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(problem).toMatchObject({ status, code, type: `urn:adcap:error:${code}` });
};

describe('what a schema refuses', () => {
  test('each wrong field of a body is named by its path', async () => {
    const answer = await ask(
      '/v1/things',
      json('{"deviceId":7,"candidates":[{"creativeId":"a"},{"creativeId":null}]}'),
    );
    expectProblem(answer, 400, 'ADCAP_REQUEST_INVALID');
    expect(answer.problem.detail).toBe('deviceId: expected string, received number (and 1 more)');
    expect(answer.problem.errors).toEqual([
      { field: 'deviceId', message: 'expected string, received number' },
      { field: 'candidates.1.creativeId', message: 'expected string, received null' },
    ]);
  });

  test('a union names its field once and says what each branch wanted', async () => {
    const answer = await ask(
      '/v1/things',
      json('{"deviceId":"d","candidates":[{"creativeId":"a","limit":{"max":"2"}}]}'),
    );
    expect(answer.problem.errors).toEqual([
      {
        field: 'candidates.0.limit',
        message: 'max expected number, received string; or expected "OFF"',
      },
    ]);
  });

  test('an unknown field of a strict body is named itself', async () => {
    const answer = await ask('/v1/strict', json('{"a":1,"b":2}'));
    expect(answer.problem.errors).toEqual([{ field: 'b', message: 'is not a known field' }]);
  });

  test('a missing body is a field error, a body that is no object too', async () => {
    expectProblem(await ask('/v1/things', { method: 'POST' }), 400, 'ADCAP_REQUEST_INVALID');
    const answer = await ask('/v1/things', json('[]'));
    expect(answer.problem.errors).toEqual([{ field: 'body', message: 'expected object, received array' }]);
  });

  test('a query and a path parameter are named with their part', async () => {
    const query = await ask('/v1/query?at=soon');
    expectProblem(query, 400, 'ADCAP_REQUEST_INVALID');
    expect(query.problem.errors).toEqual([{ field: 'querystring.at', message: 'digits only' }]);
    const path = await ask(`/v1/devices/${'x'.repeat(257)}`);
    expectProblem(path, 400, 'ADCAP_REQUEST_INVALID');
    expect(path.problem.errors?.[0]?.field).toBe('params.deviceId');
  });

  test('hundreds of wrong entries are answered with the first hundred', async () => {
    const candidates = Array.from({ length: 150 }, () => 0);
    const answer = await ask('/v1/things', json(JSON.stringify({ deviceId: 'd', candidates })));
    expect(answer.problem.errors).toHaveLength(100);
    expect(answer.problem.detail).toContain('(and 149 more)');
  });
});

describe('what no handler sees', () => {
  const cases: [name: string, path: string, init: RequestInit, status: number, code: string][] = [
    ['malformed JSON', '/v1/things', json('{"deviceId":'), 400, 'ADCAP_REQUEST_MALFORMED'],
    ['an empty JSON body', '/v1/things', json(''), 400, 'ADCAP_REQUEST_MALFORMED'],
    [
      'a __proto__ key',
      '/v1/things',
      json('{"deviceId":"d","candidates":[],"__proto__":{"x":1}}'),
      400,
      'ADCAP_REQUEST_MALFORMED',
    ],
    [
      'an escaped __proto__ key',
      '/v1/things',
      json('{"\\u005f_proto__":{"x":1}}'),
      400,
      'ADCAP_REQUEST_MALFORMED',
    ],
    [
      'a constructor.prototype key',
      '/v1/things',
      json('{"constructor":{"prototype":{"x":1}}}'),
      400,
      'ADCAP_REQUEST_MALFORMED',
    ],
    [
      'another media type',
      '/v1/things',
      { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' },
      415,
      'ADCAP_REQUEST_MEDIA_TYPE',
    ],
    [
      'a broken media type',
      '/v1/things',
      { method: 'POST', headers: { 'content-type': ';;' }, body: '{}' },
      415,
      'ADCAP_REQUEST_MEDIA_TYPE',
    ],
    ['a body over the limit', '/v1/things', json(`"${'x'.repeat(1_024)}"`), 413, 'ADCAP_REQUEST_TOO_LARGE'],
    ['an unknown path', '/v1/nothing', {}, 404, 'ADCAP_ROUTE_UNKNOWN'],
    ['an unknown path with a broken body', '/v1/nothing', json('{'), 404, 'ADCAP_ROUTE_UNKNOWN'],
    ['broken percent-encoding in a parameter', '/v1/devices/%E0%A4%A', {}, 400, 'ADCAP_REQUEST_MALFORMED'],
    ['broken percent-encoding on an unknown path', '/nothing/%E0%A4%A', {}, 400, 'ADCAP_REQUEST_MALFORMED'],
    ['an encoded NUL in the path', '/v1/devices/a%00b', {}, 400, 'ADCAP_REQUEST_MALFORMED'],
    ['a NUL in the query', '/v1/query?x=a%00b', {}, 400, 'ADCAP_REQUEST_INVALID'],
    ['a parameter beyond any id', `/v1/devices/${'x'.repeat(4_000)}`, {}, 400, 'ADCAP_REQUEST_INVALID'],
    [
      'a missing file of the documentation',
      '/documentation/static/nothing.js',
      {},
      404,
      'ADCAP_ROUTE_UNKNOWN',
    ],
    [
      'a path out of the documentation',
      '/documentation/static/..%2f..%2fpackage.json',
      {},
      404,
      'ADCAP_ROUTE_UNKNOWN',
    ],
  ];
  test.for(cases)('%s', async ([, path, init, status, code]) => {
    const answer = await ask(path, init);
    expectProblem(answer, status, code);
    expect(answer.problem.title).not.toBe('');
  });

  test('a repeated query parameter is named', async () => {
    const answer = await ask('/v1/query?x=1&x=2');
    expectProblem(answer, 400, 'ADCAP_REQUEST_INVALID');
    expect(answer.problem.errors).toEqual([{ field: 'querystring.x', message: 'is given more than once' }]);
  });

  test('a wrong method is 405 with every allowed one, on static and parametric paths', async () => {
    const things = await ask('/v1/things?x=1', { method: 'DELETE' });
    expectProblem(things, 405, 'ADCAP_ROUTE_METHOD');
    expect(things.response.headers.get('allow')).toBe('POST, PUT');
    const device = await ask('/v1/devices/d', json('{'));
    expectProblem(device, 405, 'ADCAP_ROUTE_METHOD');
    expect(device.response.headers.get('allow')).toBe('GET');
  });

  test('a GET route does not answer HEAD', async () => {
    const response = await fetch(new URL('/v1/query', running.address), { method: 'HEAD' });
    expect(response.status).toBe(405);
  });

  test('a chunked body over the limit is 413 without a Content-Length', async () => {
    const chunk = 'x'.repeat(2_000);
    const answer = await sendRaw(
      running.address,
      `POST /v1/things HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('ADCAP_REQUEST_TOO_LARGE');
  });

  const rawCases: [name: string, bytes: string, status: number][] = [
    ['a raw NUL in the path', 'GET /v1/devices/a\0b HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n', 400],
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['an invented method', 'FETCH / HTTP/1.1\r\nhost: a\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    [
      'two lengths',
      'POST /v1/things HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
      400,
    ],
  ];
  test.for(rawCases)('%s is answered and hung up on', async ([, bytes, status]) => {
    const answer = await sendRaw(running.address, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const [, body = ''] = answer.split('\r\n\r\n');
    expect(problemSchema.parse(JSON.parse(body))).toMatchObject({ status, code: 'ADCAP_REQUEST_MALFORMED' });
  });

  test('broken percent-encoding from a raw socket is 400 too', async () => {
    const answer = await sendRaw(
      running.address,
      'GET /v1/devices/%E0%A4%A HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('content-type: application/problem+json');
  });

  test('a request that does not arrive in time is 408', async () => {
    await using slow = await startServer(addRoutes, { requestTimeoutMs: 200 });
    const answer = await sendRaw(
      slow.address,
      'POST /v1/things HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('ADCAP_REQUEST_MALFORMED');
  });
});

describe('what a handler throws', () => {
  test('an AppError is mapped by its table', async () => {
    const answer = await ask('/v1/stale');
    expectProblem(answer, 412, 'ADCAP_RULES_STALE');
    expect(answer.problem).toMatchObject({
      detail: 'version 4 is not 5',
      errors: [{ field: 'if-match', message: 'old' }],
    });
  });

  test('a retryable AppError says when to come back and hides its message', async () => {
    const answer = await ask('/v1/away');
    expectProblem(answer, 503, 'ADCAP_STORE_UNAVAILABLE');
    expect(answer.response.headers.get('retry-after')).toBe('1');
    expect(answer.text).not.toContain('10.0.0.7');
    expect(running.logs.at(-1)).toMatchObject({
      level: 'warn',
      route: '/v1/away',
      err: { message: 'ECONNREFUSED' },
    });
  });

  test('anything else is a 500 that tells nothing and a log line that tells all', async () => {
    const answer = await ask('/v1/bug');
    expectProblem(answer, 500, 'ADCAP_INTERNAL');
    expect(answer.text).not.toContain('viewer-42');
    const line = running.logs.at(-1);
    expect(line).toMatchObject({
      level: 'error',
      route: '/v1/bug',
      err: { message: 'secret-of-viewer-42 is not a function' },
    });
    expect(answer.problem.instance).toBe(`urn:adcap:request:${String(line?.['requestId'])}`);
  });

  test('a thrown text and an answer that does not fit its schema are 500', async () => {
    const answers = [await ask('/v1/thrown-text'), await ask('/v1/unfit')];
    expect(answers.map(({ problem }) => problem.code)).toEqual(['ADCAP_INTERNAL', 'ADCAP_INTERNAL']);
    expect(answers.map(({ response }) => response.status)).toEqual([500, 500]);
  });
});

describe('what is taken', () => {
  test('sound bodies, queries and long encoded ids', async () => {
    const posted = await fetch(
      new URL('/v1/things', running.address),
      json('{"deviceId":"d","candidates":[]}'),
    );
    expect(await posted.json()).toEqual({ got: 0 });
    const queried = await fetch(new URL('/v1/query?x=a+b%20c&at=', running.address));
    expect(await queried.json()).toEqual({ x: 'a b c' });
    const id = 'ü'.repeat(256);
    const device = await fetch(new URL(`/v1/devices/${encodeURIComponent(id)}`, running.address));
    expect(await device.json()).toEqual({ id });
  });
});

const addIp = (server: HttpServer): void => {
  server.get('/ip', async (request) => request.ip);
};

describe('B42: the address of a caller', () => {
  const forwarded = { headers: { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' } };

  test('is its own when no proxy is trusted, whatever it forwards', async () => {
    await using direct = await startServer(addIp);
    expect(await (await fetch(new URL('/ip', direct.address), forwarded)).text()).toBe('127.0.0.1');
  });

  test('is the right-most untrusted hop behind a configured proxy', async () => {
    await using proxied = await startServer(addIp, { trustProxy: ['127.0.0.1/8'] });
    expect(await (await fetch(new URL('/ip', proxied.address), forwarded)).text()).toBe('2.2.2.2');
  });
});
