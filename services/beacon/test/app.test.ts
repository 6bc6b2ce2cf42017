import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { LIMITS } from '@adcap/contracts';
import { BusUnavailable } from '@adcap/kafka-bus';
import { describeConfig, listen } from '@adcap/service-runtime';
import { describe, expect, test } from 'vitest';
import { configSchema } from '../src/config.ts';
import { reservationTokens, someClaims } from './beacon-fixtures.ts';
import { buildTestApp, metricValue, testConfig } from './run-beacon.ts';

const view = (impressionId: string) => ({ deviceId: 'd1', creativeId: 'c1', impressionId });
const POST = { method: 'POST', url: '/v1/impressions' } as const;

describe('POST /v1/impressions', () => {
  test.for([
    ['application/json', 'application/json'],
    ['JSON with a charset', 'application/json; charset=utf-8'],
    ['text/plain', 'text/plain'],
    ['text/plain as sendBeacon sends it', 'text/plain;charset=UTF-8'],
    ['any charset', 'text/plain; charset=iso-8859-1'],
    ['no type', undefined],
  ] as const)('B30 takes a batch as %s', async ([, type]) => {
    const { app, published } = await buildTestApp();
    const payload = JSON.stringify({ impressions: [view('é'), view('y')] });
    const headers = type === undefined ? {} : { 'content-type': type };
    const answer = await app.inject({ ...POST, headers, payload });

    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toStrictEqual({ accepted: 2, duplicates: 0, ignored: 0, rejected: [] });
    expect(published.map(({ impressionId }) => impressionId)).toStrictEqual(['é', 'y']);
  });

  test('B30 lets pages of every origin post and read the answer, by default', async () => {
    const { app } = await buildTestApp();
    const headers = { origin: 'https://player.example', 'content-type': 'text/plain;charset=UTF-8' };
    const posted = await app.inject({
      ...POST,
      headers,
      payload: JSON.stringify({ impressions: [view('x')] }),
    });
    expect(posted.statusCode).toBe(202);
    expect(posted.headers['access-control-allow-origin']).toBe('https://player.example');

    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/v1/impressions',
      headers: {
        origin: 'https://player.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(preflight.statusCode).toBe(204);
    // sendBeacon asks in credentials mode, in which a browser does not take `*`.
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': 'https://player.example',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': expect.stringContaining('content-type'),
    });
  });

  test('B30 lets only the origins of the setting read the answer', async () => {
    const { app } = await buildTestApp({
      config: testConfig({ ADCAP_BEACON_CORS_ORIGINS: 'https://a.example' }),
    });
    const allowed = await app.inject({ url: '/v1/pixel.gif', headers: { origin: 'https://a.example' } });
    const other = await app.inject({ url: '/v1/pixel.gif', headers: { origin: 'https://b.example' } });
    expect(allowed.headers['access-control-allow-origin']).toBe('https://a.example');
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('B39 takes the good items and says which were bad and why', async () => {
    const { app, published } = await buildTestApp();
    const bad = { deviceId: 'd1', creativeId: '[CREATIVE]' };
    const answer = await app.inject({ ...POST, payload: { impressions: [view('x'), bad, view('y')] } });

    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toStrictEqual({
      accepted: 2,
      duplicates: 0,
      ignored: 0,
      rejected: [{ index: 1, reason: 'invalid', message: expect.stringMatching(/^creativeId: /) }],
    });
    expect(published.map(({ impressionId }) => impressionId)).toStrictEqual(['x', 'y']);
  });

  test('B39 refuses a batch of which every item is bad, with the numbers of the answer', async () => {
    const { app, published } = await buildTestApp();
    const answer = await app.inject({ ...POST, payload: { impressions: [{ deviceId: 'd1' }, 7] } });

    expect(answer.statusCode).toBe(400);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json()).toMatchObject({
      code: 'ADCAP_IMPRESSIONS_ALL_REJECTED',
      errors: [{ field: 'impressions.0.creativeId' }, { field: 'impressions.1' }],
      accepted: 0,
      duplicates: 0,
      ignored: 0,
      rejected: [{ index: 0 }, { index: 1 }],
    });
    expect(published).toStrictEqual([]);
  });

  test('B39 refuses an empty list', async () => {
    const { app } = await buildTestApp();
    const answer = await app.inject({ ...POST, payload: { impressions: [] } });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({
      code: 'ADCAP_REQUEST_INVALID',
      errors: [{ field: 'impressions' }],
      accepted: 0,
      rejected: [],
    });
  });

  test.for([
    ['B25 epoch seconds', 1_700_000_000],
    ['B25 a time without a zone', '2024-03-10T01:30:00'],
    ['B25 a word', 'now'],
  ] as const)('refuses %s as sentAt, and as the only playedAt, and names the field', async ([, instant]) => {
    const { app } = await buildTestApp();
    const sentAt = await app.inject({ ...POST, payload: { sentAt: instant, impressions: [view('x')] } });
    expect(sentAt.statusCode).toBe(400);
    expect(sentAt.json()).toMatchObject({ errors: [{ field: 'sentAt' }] });

    const playedAt = await app.inject({
      ...POST,
      payload: { impressions: [{ ...view('x'), playedAt: instant }] },
    });
    expect(playedAt.statusCode).toBe(400);
    expect(playedAt.json()).toMatchObject({ errors: [{ field: 'impressions.0.playedAt' }] });
  });

  test('takes a batch of which every item is ignored', async () => {
    const { app, published, registry } = await buildTestApp();
    const unidentified = { ...view('x'), deviceId: '%%IFA%%' };
    const other = { ...view('x'), event: 'midpoint' };
    const answer = await app.inject({ ...POST, payload: { impressions: [unidentified, other] } });

    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({ accepted: 0, ignored: 2, rejected: [] });
    expect(published).toStrictEqual([]);
    const counted = (reason: string) =>
      metricValue(registry, 'adcap_beacon_impressions_total', { outcome: 'ignored', reason });
    expect(await counted('unidentified')).toBe(1);
    expect(await counted('other_event')).toBe(1);
  });

  test('B01 counts three ids of one millisecond as three, and one id three times as one', async () => {
    const { app, published } = await buildTestApp();
    const at = (impressionId: string) => ({ ...view(impressionId), ageMs: 1_000 });
    const three = await app.inject({ ...POST, payload: { impressions: [at('x'), at('y'), at('z')] } });
    expect(three.json()).toMatchObject({ accepted: 3, duplicates: 0 });
    expect(new Set(published.map((event) => event.at)).size).toBe(1);
    expect(new Set(published.map(({ fingerprint }) => fingerprint)).size).toBe(3);

    const one = await app.inject({ ...POST, payload: { impressions: [at('w'), at('w'), at('w')] } });
    expect(one.json()).toMatchObject({ accepted: 1, duplicates: 2 });
  });

  test('B41 takes the most items that it publishes, with long ids', async () => {
    const { app, published } = await buildTestApp();
    const impressions = Array.from({ length: LIMITS.impressionsPerRequest }, (_, index) => ({
      ...view(`${index}-${'x'.repeat(200)}`),
      campaignId: 'k'.repeat(250),
      brandId: 'b'.repeat(250),
      sessionId: 's'.repeat(250),
      industryIds: Array.from({ length: 4 }, (_value, place) => `${place}`.repeat(100)),
    }));
    const answer = await app.inject({ ...POST, payload: { impressions } });
    expect(answer.json()).toMatchObject({ accepted: LIMITS.impressionsPerRequest, rejected: [] });
    expect(published).toHaveLength(LIMITS.impressionsPerRequest);
  });

  test('B41 refuses one item more with 413 and publishes nothing', async () => {
    const { app, published } = await buildTestApp();
    const impressions = Array.from({ length: LIMITS.impressionsPerRequest + 1 }, (_, i) => view(`${i}`));
    const headers = { 'content-type': 'application/json' };
    const answer = await app.inject({ ...POST, headers, payload: JSON.stringify({ impressions }) });
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({
      code: 'ADCAP_REQUEST_TOO_LARGE',
      errors: [{ field: 'impressions', message: expect.stringContaining('1000') }],
    });
    expect(published).toStrictEqual([]);
  });

  test('B41 decodes gzip up to the limit of the decoded size', async () => {
    const { app, published } = await buildTestApp();
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const small = gzipSync(JSON.stringify({ impressions: [view('x')] }));
    expect((await app.inject({ ...POST, headers, payload: small })).statusCode).toBe(202);
    expect(published).toHaveLength(1);

    const bomb = gzipSync(`{"impressions":["${'a'.repeat(50 * 1_048_576)}"]}`);
    expect(bomb.length).toBeLessThan(100_000);
    const refused = await app.inject({ ...POST, headers, payload: bomb });
    expect(refused.statusCode).toBe(413);
    expect(refused.json()).toMatchObject({ code: 'ADCAP_REQUEST_TOO_LARGE' });

    const broken = await app.inject({ ...POST, headers, payload: 'not gzip' });
    expect(broken.statusCode).toBe(400);
    expect(broken.json()).toMatchObject({ code: 'ADCAP_REQUEST_MALFORMED' });
  });

  test.for(['br', 'deflate', 'zstd', 'gzip, gzip'])(
    'B41 refuses the encoding %s and says which it takes',
    async (encoding) => {
      const { app } = await buildTestApp();
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      const answer = await app.inject({ ...POST, headers, payload: '{}' });
      expect(answer.statusCode).toBe(415);
      expect(answer.headers['accept-encoding']).toBe('gzip');
    },
  );

  test('B41 cuts off a chunked body over the limit', async () => {
    const { app } = await buildTestApp();
    await using stack = new AsyncDisposableStack();
    stack.defer(() => app.close());
    const address = await listen(app, { host: '127.0.0.1', port: 0 });
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const posting = httpRequest(`${address}/v1/impressions`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    posting.on('error', reject);
    const chunk = Buffer.alloc(1_048_576, 'a');
    for (let megabytes = 0; megabytes < 10; megabytes += 1) posting.write(chunk);
    expect(await promise).toBe(413);
    posting.destroy();
  });

  test.for([
    ['another type', { 'content-type': 'text/html' }, '{}', 415],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=b', 415],
    ['a type that is none', { 'content-type': '???' }, '{}', 415],
    ['no body', {}, '', 400],
    ['text that is not JSON', { 'content-type': 'text/plain' }, 'hello', 400],
    ['a list', { 'content-type': 'application/json' }, '[]', 400],
    ['null', { 'content-type': 'application/json' }, 'null', 400],
    ['no impressions', { 'content-type': 'application/json' }, '{}', 400],
    ['impressions that are no list', { 'content-type': 'text/plain' }, '{"impressions":{}}', 400],
    ['__proto__', { 'content-type': 'text/plain' }, '{"__proto__":{},"impressions":[]}', 400],
  ] as const)('refuses %s', async ([, headers, payload, status]) => {
    const { app } = await buildTestApp();
    const answer = await app.inject({ ...POST, headers, payload });
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['content-type']).toBe('application/problem+json');
  });

  test('answers 503 with a spread Retry-After and claims nothing where the bus is away', async () => {
    const { app, registry } = await buildTestApp({
      publish: () => Promise.reject(new BusUnavailable('away')),
    });
    const answer = await app.inject({ ...POST, payload: { impressions: [view('x'), view('y')] } });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('3');
    expect(answer.json()).toMatchObject({ code: 'ADCAP_IMPRESSIONS_NOT_STORED' });
    expect(answer.json()).not.toHaveProperty('accepted');
    expect(await metricValue(registry, 'adcap_beacon_impressions_total', { outcome: 'accepted' })).toBe(0);
    expect(await metricValue(registry, 'adcap_beacon_impressions_total', { outcome: 'not_stored' })).toBe(2);
  });

  test('believes playedAt by itself from a producer with a token, and refuses a token that nobody has', async () => {
    const { app, published } = await buildTestApp({
      config: testConfig({ ADCAP_BEACON_PRODUCER_TOKENS: 'stitcher-1,stitcher-2' }),
    });
    const playedAt = Date.now() - 3_600_000;
    const payload = { impressions: [{ ...view('x'), playedAt }] };
    const told = await app.inject({ ...POST, headers: { authorization: 'Bearer stitcher-2' }, payload });
    expect(told.statusCode).toBe(202);
    expect(published[0]?.at).toBe(playedAt);

    const unknown = await app.inject({ ...POST, headers: { authorization: 'Bearer other' }, payload });
    expect(unknown.statusCode).toBe(401);

    await app.inject({ ...POST, payload: { impressions: [{ ...view('y'), playedAt }] } });
    expect(published[1]?.at).toBe(published[1]?.receivedAt);
  });
});

const PIXEL = '/v1/pixel.gif?deviceId=d1&creativeId=c1&impressionId=x';

describe('GET /v1/pixel.gif', () => {
  test('B36 answers a GIF of 43 bytes that nobody keeps', async () => {
    const { app } = await buildTestApp();
    const answer = await app.inject(PIXEL);

    expect(answer.statusCode).toBe(200);
    expect(answer.rawPayload).toHaveLength(43);
    expect(answer.rawPayload.subarray(0, 10)).toStrictEqual(Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1'));
    expect(answer.rawPayload.at(-1)).toBe(0x3b);
    expect(answer.headers).toMatchObject({
      'content-type': 'image/gif',
      'content-length': '43',
      'cache-control': 'no-store, private',
      'x-adcap-outcome': 'accepted',
    });
    expect(answer.headers).not.toHaveProperty('etag');
    expect(answer.headers).not.toHaveProperty('last-modified');
  });

  test('B36 counts a conditional request and never answers 304', async () => {
    const { app, published } = await buildTestApp();
    const headers = { 'if-none-match': '*', 'if-modified-since': 'Wed, 01 Jan 2031 00:00:00 GMT' };
    const answer = await app.inject({ url: PIXEL, headers });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['x-adcap-outcome']).toBe('accepted');
    expect(published).toHaveLength(1);
  });

  test.for(['HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE'] as const)(
    'B31 counts nothing for %s',
    async (method) => {
      const { app, published } = await buildTestApp();
      const answer = await app.inject({ method, url: PIXEL });
      expect(answer.statusCode).toBe(method === 'OPTIONS' ? 204 : 405);
      expect(published).toStrictEqual([]);
    },
  );

  test.for([
    ['sec-purpose', 'prefetch'],
    ['sec-purpose', 'prefetch;prerender'],
    ['purpose', 'prefetch'],
    ['x-moz', 'prefetch'],
    ['x-purpose', 'preview'],
  ] as const)('counts nothing for what is fetched ahead (%s: %s)', async ([name, value]) => {
    const { app, published } = await buildTestApp();
    const answer = await app.inject({ url: PIXEL, headers: { [name]: value } });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['x-adcap-outcome']).toBe('ignored');
    expect(published).toStrictEqual([]);
  });

  test.for([
    '[IFA]',
    '%5BIFA%5D',
    '%255BIFA%255D',
    '%%IFA%%',
    '-1',
    '-2',
    '',
    'null',
    'undefined',
    '0',
    '0000',
  ])('B33 answers the device %s and touches nothing', async (device) => {
    const { app, published, registry } = await buildTestApp();
    const answer = await app.inject(`/v1/pixel.gif?deviceId=${device}&creativeId=c1`);
    expect(answer.statusCode).toBe(200);
    expect(answer.rawPayload).toHaveLength(43);
    expect(answer.headers['x-adcap-outcome']).toBe('ignored');
    expect(published).toStrictEqual([]);
    const labels = { outcome: 'ignored', reason: 'unidentified' };
    expect(await metricValue(registry, 'adcap_beacon_impressions_total', labels)).toBe(1);
  });

  test('answers a rejected pixel with its reason, and the GIF', async () => {
    const { app } = await buildTestApp();
    const invalid = await app.inject('/v1/pixel.gif?deviceId=d1');
    expect(invalid.statusCode).toBe(200);
    expect(invalid.headers['x-adcap-outcome']).toBe('rejected; invalid');
    expect(invalid.rawPayload).toHaveLength(43);
    const old = await app.inject(`${PIXEL}&ageMs=90000000`);
    expect(old.headers['x-adcap-outcome']).toBe('rejected; too_old');
  });

  test('takes a reservation id alone, and its repeat for a duplicate', async () => {
    const { app, published } = await buildTestApp();
    const url = `/v1/pixel.gif?t=${reservationTokens.sign(someClaims())}`;
    expect((await app.inject(url)).headers['x-adcap-outcome']).toBe('accepted');
    expect((await app.inject(url)).headers['x-adcap-outcome']).toBe('duplicate');
    expect(published).toHaveLength(1);
    expect(published[0]).toMatchObject({
      deviceId: 'd1',
      creativeId: 'c1',
      slot: 2,
      identity: 'reservation',
    });
  });

  test.for([
    'deviceId=d1&deviceId=d2&creativeId=c1',
    'deviceId=%zz&creativeId=c1',
    'deviceId=a%00b&creativeId=c1',
  ])('refuses ?%s', async (query) => {
    const { app, published } = await buildTestApp();
    expect((await app.inject(`/v1/pixel.gif?${query}`)).statusCode).toBe(400);
    expect(published).toStrictEqual([]);
  });

  test('answers 503 with Retry-After where it could not be stored', async () => {
    const { app } = await buildTestApp({ publish: () => Promise.reject(new BusUnavailable('away')) });
    const answer = await app.inject(PIXEL);
    expect(answer.statusCode).toBe(503);
    expect(answer.headers).toHaveProperty('retry-after');
    expect(answer.headers).not.toHaveProperty('x-adcap-outcome');
  });
});

test.for([
  ['nobody is trusted', '', '127.0.0.1'],
  ['another proxy is trusted', '10.0.0.0/8', '127.0.0.1'],
  ['the peer is trusted: the right-most hop that is not', '127.0.0.1', '2.2.2.2'],
  ['the peer and a proxy before it are trusted', '127.0.0.1,2.2.2.2', '1.1.1.1'],
] as const)('B42 X-Forwarded-For where %s', async ([, proxies, expected]) => {
  const { app } = await buildTestApp({ config: testConfig({ ADCAP_BEACON_TRUSTED_PROXIES: proxies }) });
  app.get('/address', async (request) => ({ ip: request.ip }));
  const answer = await app.inject({ url: '/address', headers: { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' } });
  expect(answer.json()).toStrictEqual({ ip: expected });
});

test('B63 the number of series does not grow with devices, creatives and macros', async () => {
  const { app, registry } = await buildTestApp();
  const seriesCount = async () =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('adcap_')).length;
  const post = (from: number) =>
    app.inject({
      ...POST,
      payload: {
        impressions: Array.from({ length: 300 }, (_, index) => [
          { deviceId: `d${from + index}`, creativeId: `c${index}` },
          { deviceId: `[M${from + index}]`, creativeId: 'c' },
          { deviceId: 'd', creativeId: `[M${from + index}]` },
        ]).flat(),
      },
    });
  await post(0);
  const before = await seriesCount();
  await post(1_000);
  expect(await seriesCount()).toBe(before);
});

test('every setting is described', () => {
  expect(describeConfig(configSchema).map(({ name }) => name)).toContain('ADCAP_BEACON_CORS_ORIGINS');
});

test('the API describes itself', async () => {
  const { app } = await buildTestApp();
  const { paths } = (await app.inject('/openapi.json')).json();
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/v1/impressions', '/v1/pixel.gif']));
});
