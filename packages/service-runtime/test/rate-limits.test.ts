import { expect, test } from 'vitest';
import {
  accessTokens,
  createMetricsRegistry,
  createRateLimits,
  problemSchema,
  requireRole,
} from '../src/index.ts';
import { startServer } from './start-server.ts';

const tokens = { viewer: accessTokens.parse('hal=h-token, ida=i-token') };

const startLimited = async (limits: { perPeer: number; perActor: number }) => {
  const registry = createMetricsRegistry();
  const sample = await startServer(async (server) => {
    const { around } = await createRateLimits(server, { ...limits, registry });
    server.get('/guarded', { onRequest: around(requireRole(tokens, 'viewer')) }, async () => ({}));
    server.get('/also', { onRequest: around(requireRole(tokens, 'viewer')) }, async () => ({}));
    server.get('/free', async () => ({}));
  });
  const get = async (path: string, token: string) =>
    fetch(new URL(path, sample.address), { headers: { authorization: `Bearer ${token}` } });
  const refusedBy = async (by: string) => {
    const metric = await registry.getSingleMetric('adcap_http_rate_limited_total')?.get();
    return metric?.values.find(({ labels }) => labels['by'] === by)?.value ?? 0;
  };
  return { get, refusedBy, [Symbol.asyncDispose]: sample[Symbol.asyncDispose] };
};

test('a bearer that sends too many is refused with Retry-After on every route, another one is not', async () => {
  await using sample = await startLimited({ perPeer: 100, perActor: 2 });
  expect((await sample.get('/guarded', 'h-token')).status).toBe(200);
  expect((await sample.get('/also', 'h-token')).status).toBe(200);
  const refused = await sample.get('/guarded', 'h-token');
  expect(problemSchema.parse(await refused.json())).toMatchObject({
    status: 429,
    code: 'ADCAP_RATE_LIMITED',
  });
  expect(refused.headers.get('content-type')).toBe('application/problem+json');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
  expect((await sample.get('/guarded', 'i-token')).status).toBe(200);
  expect((await sample.get('/free', 'h-token')).status).toBe(200);
  expect(await sample.refusedBy('actor')).toBe(1);
});

test('an address that guesses tokens is refused before they are looked at', async () => {
  await using sample = await startLimited({ perPeer: 3, perActor: 100 });
  const statuses: number[] = [];
  // oxlint-disable-next-line no-await-in-loop -- counted in this order
  for (const token of ['one', 'two', 'three', 'h-token'])
    statuses.push((await sample.get('/guarded', token)).status);
  expect(statuses).toEqual([401, 401, 401, 429]);
  expect(await sample.refusedBy('peer')).toBe(1);
});
