import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  accessTokens,
  createBearerReader,
  includesRole,
  problemSchema,
  type Role,
  type RoleTokens,
  requireRole,
} from '../src/index.ts';
import { startServer } from './start-server.ts';

const read = (text: string) => accessTokens.parse(text);
const tokens: RoleTokens = { viewer: read('v-token'), editor: read('e-token'), operator: read('o-token') };

const startGuarded = async (guarded: RoleTokens = tokens) =>
  startServer((server) => {
    for (const minimum of ['viewer', 'editor', 'operator'] as const) {
      const onRequest = requireRole(guarded, minimum);
      server.get(`/${minimum}`, { onRequest }, async (request) => request.bearer ?? {});
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
  expect(await (await get(sample.address, '/viewer', 'bearer e-token')).json()).toEqual({
    role: 'editor',
    actor: 'editor',
  });
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
  await using sample = await startGuarded({ viewer: read(''), editor: undefined });
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
  expect(createBearerReader({ viewer: read('same'), operator: read('same') })('Bearer same')?.role).toBe(
    'operator',
  );
});

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

test('a role has many tokens, plain or hashed, each under its name or that of the role', async () => {
  const readBearer = createBearerReader({
    viewer: read(`reader, hal=${'h'.repeat(30)}`),
    editor: read(
      `jane=jane-token, sha256:${hashOf('hashed')}, tom.b@ops=sha256:${hashOf('toms').toUpperCase()}`,
    ),
  });
  const bearers = ['reader', 'h'.repeat(30), 'jane-token', 'hashed', 'toms'].map((token) =>
    readBearer(`Bearer ${token}`),
  );
  expect(bearers).toEqual([
    { role: 'viewer', actor: 'viewer' },
    { role: 'viewer', actor: 'hal' },
    { role: 'editor', actor: 'jane' },
    { role: 'editor', actor: 'editor' },
    { role: 'editor', actor: 'tom.b@ops' },
  ]);
  const notTokens = [hashOf('hashed'), `sha256:${hashOf('hashed')}`, 'jane=jane-token', 'jane', 'tom.b@ops'];
  expect(notTokens.map((token) => readBearer(`Bearer ${token}`))).toEqual(notTokens.map(() => undefined));
});

test('of a configured token only the digest is kept', () => {
  const kept = read(`jane=jane-token,other-token,sha256:${hashOf('third')}`);
  expect(kept.map(({ sha256 }) => sha256.toString('hex'))).toEqual(
    ['jane-token', 'other-token', 'third'].map(hashOf),
  );
  expect(inspect(kept, { depth: 9 })).not.toMatch(/jane-token|other-token/);
});

test.for([
  'YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXowMTIzNDU=',
  'c2l4dGVlbiBieXRlcyBoZQ==',
  'a+b/c',
  'name.with-signs',
])('a token as generators write it is one, padding included: %s', (token) => {
  expect(createBearerReader({ viewer: read(token) })(`Bearer ${token}`)).toEqual({
    role: 'viewer',
    actor: 'viewer',
  });
});

test.for([
  ['a name whose variable was empty', 'jane=', 'has a name without a token'],
  ['nothing but a sign', '=', 'has a name without a token'],
  ['a digest that is too short', 'jane=sha256:5ec7e7', 'sha256: must be followed by 64'],
  ['a digest of another kind', `sha256:${'5ec7e7'.repeat(11)}`, 'sha256: must be followed by 64'],
  ['a token in two words', 'two words', 'must not have spaces'],
])('%s is refused without being told', ([, text, message]) => {
  const parsed = accessTokens.safeParse(`fine,${text}`);
  expect(parsed.error?.message).toContain(message);
  expect(parsed.error?.message).not.toContain('5ec7e7');
});

test('who was refused is in the log, by name and route', async () => {
  await using sample = await startGuarded({ viewer: read('hal=v-token') });
  await get(sample.address, '/operator', 'Bearer v-token');
  await get(sample.address, '/viewer', 'Bearer guessed');
  const refusals = sample.logs.filter(({ msg }) => msg === 'access refused');
  expect(refusals).toMatchObject([
    { code: 'ADCAP_AUTH_ROLE', actor: 'hal', role: 'viewer', route: '/operator', peer: '127.0.0.1' },
    { code: 'ADCAP_AUTH_MISSING', route: '/viewer' },
  ]);
});

test('includesRole follows the order of the roles', () => {
  const roles: (Role | undefined)[] = [undefined, 'viewer', 'editor', 'operator'];
  expect(roles.map((role) => includesRole(role, 'editor'))).toEqual([false, false, true, true]);
});
