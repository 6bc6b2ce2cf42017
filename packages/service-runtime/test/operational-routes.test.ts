import { expect, test } from 'vitest';
import { z } from 'zod';
import { problemSchema } from '../src/index.ts';
import { startServer } from './start-server.ts';

const counted = (labels: string, count: number) =>
  `adcap_http_request_duration_seconds_count{${labels}} ${count}`;

const schemaIn = (...path: string[]) => [
  'paths',
  '/v1/things',
  'post',
  ...path,
  'content',
  'application/json',
  'schema',
];

const get = async (address: string, path: string) => fetch(new URL(path, address));

test('livez and readyz carry the checks, with 503 for what must be acted on', async () => {
  await using sample = await startServer(() => undefined);
  let stuck = false;
  sample.health.register('liveness', 'loop', () => ({ ok: !stuck }));
  sample.health.register('informative', 'redis', () => ({ ok: false, detail: 'ECONNREFUSED' }));

  const ready = await get(sample.address, '/readyz');
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({
    status: 'ready',
    checks: { redis: { ok: false, detail: 'ECONNREFUSED' } },
  });
  expect((await get(sample.address, '/livez')).status).toBe(200);

  stuck = true;
  const live = await get(sample.address, '/livez');
  expect(live.status).toBe(503);
  expect(await live.json()).toEqual({ status: 'stuck', checks: { loop: { ok: false } } });

  sample.health.markDraining();
  const draining = await get(sample.address, '/readyz');
  expect(draining.status).toBe(503);
  expect(await draining.json()).toMatchObject({ status: 'draining' });
});

test('B63: requests are measured by route pattern, so ids and unknown paths add no series', async () => {
  await using sample = await startServer((server) => {
    server.get('/v1/devices/:deviceId', async () => ({}));
  });
  const series = async () => {
    const text = await (await get(sample.address, '/metrics')).text();
    return text.split('\n').filter((line) => line.startsWith('adcap_http_request_duration_seconds_count'));
  };
  await get(sample.address, '/v1/devices/first');
  await get(sample.address, '/unknown/first');
  await series();
  const before = await series();
  for (const id of ['a', 'b', 'c', 'd']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other keeps the counts exact
    await Promise.all([get(sample.address, `/v1/devices/${id}`), get(sample.address, `/unknown/${id}`)]);
  }
  const after = await series();
  expect(after).toHaveLength(before.length);
  expect(after).toContain(counted('route="/v1/devices/:deviceId",method="GET",status_class="2xx"', 5));
  expect(after).toContain(counted('route="none",method="GET",status_class="4xx"', 5));
});

test('metrics include those of the process and its version', async () => {
  await using sample = await startServer(() => undefined);
  const response = await get(sample.address, '/metrics');
  expect(response.headers.get('content-type')).toContain('text/plain');
  const text = await response.text();
  expect(text).toContain('process_resident_memory_bytes');
  expect(text).toContain('adcap_build_info{service="sample",version="1.2.3"} 1');
});

test('openapi.json is 3.1 and made from the zod schemas', async () => {
  await using sample = await startServer((server) => {
    const body = z.object({ deviceId: z.string().max(256).describe('The viewer') });
    const response = { 200: z.object({ n: z.int() }), '4xx': problemSchema };
    server.post('/v1/things', { schema: { body, response, security: [{ bearer: [] }] } }, async () => ({
      n: 1,
    }));
  });
  const document: unknown = await (await get(sample.address, '/openapi.json')).json();
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'Sample', version: '1.2.3' },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    paths: { '/livez': {}, '/readyz': {}, '/metrics': {} },
  });
  expect(document).not.toHaveProperty(['paths', '/openapi.json']);
  const deviceId = { type: 'string', maxLength: 256, description: 'The viewer' };
  expect(document).toHaveProperty([...schemaIn('requestBody'), 'properties', 'deviceId'], deviceId);
  const codes: unknown = expect.arrayContaining(['ADCAP_REQUEST_INVALID']);
  expect(document).toHaveProperty([...schemaIn('responses', '4XX'), 'properties', 'code', 'enum'], codes);
});

test('the documentation page loads with every asset that it names', async () => {
  await using sample = await startServer(() => undefined);
  const page = await get(sample.address, '/documentation');
  expect(page.status).toBe(200);
  const html = await page.text();
  const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].flatMap(([, path]) =>
    path === undefined ? [] : [path],
  );
  expect(assets.length).toBeGreaterThan(3);
  const pageUrl = new URL('/documentation/', sample.address);
  const loaded = await Promise.all(assets.map(async (path) => fetch(new URL(path, pageUrl))));
  expect(loaded.map(({ status, url }) => `${status} ${url}`)).toEqual(loaded.map(({ url }) => `200 ${url}`));
  const sizes = await Promise.all(loaded.map(async (asset) => (await asset.arrayBuffer()).byteLength));
  expect(sizes.every((size) => size > 0)).toBe(true);
});

test('a taken port is one clear line', async () => {
  await using holder = await startServer(() => undefined);
  const port = Number(new URL(holder.address).port);
  await expect(startServer(() => undefined, {}, port)).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}: the port is already in use`,
  );
});
