import { describe, expect, test } from 'vitest';
import {
  createRoleReader,
  includesRole,
  problemSchema,
  type Role,
  type RoleTokens,
  requireRole,
} from '../src/index.ts';
import { startServer } from './start-server.ts';

const tokens: RoleTokens = { viewer: 'v-token', editor: 'e-token', operator: 'o-token' };

const startGuarded = async (guarded: RoleTokens = tokens) =>
  startServer((server) => {
    for (const minimum of ['viewer', 'editor', 'operator'] as const) {
      const onRequest = requireRole(guarded, minimum);
      server.get(`/${minimum}`, { onRequest }, async (request) => ({ role: request.role }));
      server.post(`/${minimum}`, { preHandler: requireRole(guarded, minimum) }, async () => ({}));
    }
  });

const get = async (address: string, path: string, authorization?: string) =>
  fetch(new URL(path, address), { headers: authorization === undefined ? {} : { authorization } });

test('a role opens what it includes and no more', async () => {
  await using sample = await startGuarded();
  const statuses = async (token: string) =>
    Promise.all(
      ['/viewer', '/editor', '/operator'].map(
        async (path) => (await get(sample.address, path, `Bearer ${token}`)).status,
      ),
    );
  expect(await statuses('v-token')).toEqual([200, 403, 403]);
  expect(await statuses('e-token')).toEqual([200, 200, 403]);
  expect(await statuses('o-token')).toEqual([200, 200, 200]);
  expect(await (await get(sample.address, '/viewer', 'bearer e-token')).json()).toEqual({ role: 'editor' });
});

describe('no valid token is 401 with a challenge', () => {
  const cases: [authorization: string | undefined][] = [
    [undefined],
    ['Bearer'],
    ['Bearer '],
    ['Bearer wrong'],
    ['Bearer o-token extra'],
    ['Basic o-token'],
    ['o-token'],
    ['Bearer o-toke'],
    ['Bearer undefined'],
  ];
  test.for(cases)('%s', async ([authorization]) => {
    await using sample = await startGuarded();
    const response = await get(sample.address, '/viewer', authorization);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="adcap"');
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(problemSchema.parse(await response.json()).code).toBe('ADCAP_AUTH_MISSING');
  });
});

test('too low a role is 403 that names both', async () => {
  await using sample = await startGuarded();
  const response = await get(sample.address, '/operator', 'Bearer v-token');
  const problem = problemSchema.parse(await response.json());
  expect(problem).toMatchObject({ status: 403, code: 'ADCAP_AUTH_ROLE' });
  expect(problem.detail).toBe('This needs the role operator; the token has viewer.');
});

test('as a preHandler it guards too', async () => {
  await using sample = await startGuarded();
  const response = await fetch(new URL('/editor', sample.address), { method: 'POST' });
  expect(response.status).toBe(401);
});

test('without configured tokens nobody passes', async () => {
  await using sample = await startGuarded({ viewer: '', editor: undefined });
  const attempts = ['Bearer ', 'Bearer undefined', undefined];
  const statuses = await Promise.all(
    attempts.map(async (a) => (await get(sample.address, '/viewer', a)).status),
  );
  expect(statuses).toEqual([401, 401, 401]);
});

test('tokens are not logged, accepted or refused', async () => {
  await using sample = await startGuarded();
  await get(sample.address, '/operator', 'Bearer v-token');
  await get(sample.address, '/operator', 'Bearer guessed-token');
  await get(sample.address, '/operator', 'Bearer o-token');
  expect(JSON.stringify(sample.logs)).not.toMatch(/[vo]-token|guessed-token/);
});

test('one token under two roles has the higher one', () => {
  expect(createRoleReader({ viewer: 'same', operator: 'same' })('Bearer same')).toBe('operator');
});

test('includesRole follows the order of the roles', () => {
  const roles: (Role | undefined)[] = [undefined, 'viewer', 'editor', 'operator'];
  expect(roles.map((role) => includesRole(role, 'editor'))).toEqual([false, false, true, true]);
});
