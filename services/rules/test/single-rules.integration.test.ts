import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';
import { capRule, get, put, type RulesService, startRulesService } from './start-rules-service.ts';

type Options = { ifMatch?: string; body?: unknown; token?: string };

/** `asked` as in an HTTP request line. */
const send = (service: RulesService, asked: string, options: Options = {}) => {
  const [method = '', path = ''] = asked.split(' ');
  return service.call(method, path, { token: 'an-editor', ...options });
};

const idsOf = async (service: RulesService) => (await get(service)).body.rules?.map(({ id }) => id);

describe('one rule at a time', () => {
  test('is added as the last, replaced in its place and removed, each a version with its note', async ({
    service,
  }) => {
    await put(service, '"1"', { dimensions: { brand: 'off' }, rules: [capRule('a', 1), capRule('b', 1)] });

    const added = await send(service, 'POST /v1/rules', { ifMatch: '"2"', body: capRule('c', 3) });
    expect([added.status, added.headers.get('etag')]).toEqual([201, '"3"']);
    expect(added.body).toEqual({ version: 3, rule: capRule('c', 3) });

    const { id: _id, ...withoutId } = { ...capRule('a', 7), note: 'more' };
    const replaced = await send(service, 'PUT /v1/rules/a?note=for+the+finals', {
      ifMatch: '"3"',
      body: withoutId,
    });
    expect([replaced.status, replaced.headers.get('etag')]).toEqual([200, '"4"']);
    expect(replaced.body).toEqual({ version: 4, rule: { ...withoutId, id: 'a' } });

    const removed = await send(service, 'DELETE /v1/rules/b', { ifMatch: '"4"' });
    expect(removed.body).toEqual({ version: 5, rule: capRule('b', 1) });
    expect(removed.headers.get('etag')).toBe('"5"');

    expect((await get(service)).body).toEqual({
      version: 5,
      dimensions: { brand: 'off' },
      rules: [{ ...withoutId, id: 'a' }, capRule('c', 3)],
    });
    const { body } = await service.call('GET', '/v1/rules/versions', { token: 'a-viewer' });
    expect(body.versions?.map(({ note }) => note)).toEqual([
      'rule b removed',
      'rule a replaced: for the finals',
      'rule c added',
      undefined,
      undefined,
    ]);
  });

  test('an id may be anything that a rule may be called', async ({ service }) => {
    const id = 'c/ü %2F? "1"';
    const value = 'c1';
    await send(service, 'POST /v1/rules', { ifMatch: '*', body: { ...capRule(id, 1), value } });
    const replaced = await send(service, `PUT /v1/rules/${encodeURIComponent(id)}`, {
      ifMatch: '*',
      body: { ...capRule(id, 2), value },
    });
    expect(replaced.body).toEqual({ version: 3, rule: { ...capRule(id, 2), value } });
    for (const named of ['versions', 'diff', 'validate', 'rollback', 'effective']) {
      // oxlint-disable-next-line no-await-in-loop
      await send(service, 'POST /v1/rules', { ifMatch: '*', body: capRule(named, 1) });
      // oxlint-disable-next-line no-await-in-loop
      const removed = await send(service, `DELETE /v1/rules/${named}`, { ifMatch: '*' });
      expect([named, removed.status]).toEqual([named, 200]);
    }
    expect(await idsOf(service)).toEqual([id]);
  });

  test('an unknown id is 404, one that exists is 409, and neither makes a version', async ({ service }) => {
    await put(service, '"1"', { rules: [capRule('a', 1)] });
    const unknown = await send(service, 'PUT /v1/rules/b', { ifMatch: '"2"', body: capRule('b', 1) });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'ADCAP_RULES_UNKNOWN_RULE']);
    const gone = await send(service, 'DELETE /v1/rules/b', { ifMatch: '"2"' });
    expect([gone.status, gone.body.code]).toEqual([404, 'ADCAP_RULES_UNKNOWN_RULE']);
    const twice = await send(service, 'POST /v1/rules', { ifMatch: '"2"', body: capRule('a', 9) });
    expect([twice.status, twice.body.code]).toEqual([409, 'ADCAP_RULES_DUPLICATE']);
    expect((await get(service)).body).toEqual({ version: 2, dimensions: {}, rules: [capRule('a', 1)] });
  });

  test('every change needs If-Match and is refused when stale, before anything else is said of it', async ({
    service,
  }) => {
    const changes = [
      ['POST', '/v1/rules', capRule('a', 1)],
      ['PUT', '/v1/rules/b', capRule('b', 1)],
      ['DELETE', '/v1/rules/b', undefined],
      ['PUT', '/v1/dimensions/brand', { state: 'off' }],
      ['POST', '/v1/rules/rollback', { version: 1 }],
    ] as const;
    const answers = await Promise.all(
      changes.flatMap(([method, path, body]) =>
        [{}, { ifMatch: '"9"' }].map(async (options) => {
          const answer = await send(service, `${method} ${path}`, { ...options, body });
          return `${method} ${path} ${answer.status} ${answer.body.code}`;
        }),
      ),
    );
    expect(answers).toEqual(
      changes.flatMap(([method, path]) => [
        `${method} ${path} 428 ADCAP_RULES_IF_MATCH_MISSING`,
        `${method} ${path} 412 ADCAP_RULES_STALE`,
      ]),
    );
    expect((await get(service)).body.version).toBe(1);
  });

  test.for([
    ['an unknown field', { ...capRule('bad', 1), windw: '1m' }, 'bad', 'windw'],
    [
      'an unknown field in the limit',
      { ...capRule('bad', 1), limit: { max: 1, window: '1m', per: 'day' } },
      'bad',
      'limit.per',
    ],
    ['B14 a max of 0', capRule('bad', 0), 'bad', 'limit.max'],
    ['no id', { dimension: 'brand', limit: { max: 1, window: '1m' } }, '(rule)', 'id'],
    ['a list', [capRule('bad', 1)], '(rule)', ''],
    ['what another rule excludes', { ...capRule('bad', 1), value: 'good' }, 'bad', 'limit'],
  ] as const)(
    'is refused where it is wrong, by rule and field: %s',
    async ([, body, ruleId, field], { service }) => {
      await put(service, '"1"', { rules: [capRule('good', 1)] });
      const refused = await send(service, 'POST /v1/rules', { ifMatch: '"2"', body });
      expect([refused.status, refused.body.code]).toEqual([400, 'ADCAP_RULES_INVALID']);
      expect(refused.body.errors).toMatchObject([{ ruleId, field }]);
      expect(await idsOf(service)).toEqual(['good']);
    },
  );

  test('a rule that is replaced keeps its id, and must fit the others', async ({ service }) => {
    await put(service, '"1"', { rules: [capRule('a', 1), capRule('b', 1)] });
    const renamed = await send(service, 'PUT /v1/rules/a', { ifMatch: '"2"', body: capRule('z', 1) });
    expect(renamed.body.errors).toMatchObject([{ ruleId: 'a', field: 'id' }]);
    const clashing = await send(service, 'PUT /v1/rules/a', {
      ifMatch: '"2"',
      body: capRule('a', 2, { value: 'b' }),
    });
    expect(clashing.body.errors).toMatchObject([{ ruleId: 'b', field: 'limit' }]);
    expect((await get(service)).body.version).toBe(2);
  });
});

describe('PUT /v1/dimensions/{dimension}', () => {
  test('switches a dimension off and on; its rules stay', async ({ service }) => {
    await put(service, '"1"', { dimensions: { brand: 'off' }, rules: [capRule('a', 1)] });
    const off = await send(service, 'PUT /v1/dimensions/industry', {
      ifMatch: '"2"',
      body: { state: 'off' },
    });
    expect([off.status, off.headers.get('etag')]).toEqual([200, '"3"']);
    expect(off.body).toEqual({
      version: 3,
      dimension: 'industry',
      state: 'off',
      dimensions: { brand: 'off', industry: 'off' },
    });
    const on = await send(service, 'PUT /v1/dimensions/industry', {
      ifMatch: '"3"',
      body: { state: 'on' },
    });
    expect(on.body.dimensions).toEqual({ brand: 'off', industry: 'on' });
    expect(await idsOf(service)).toEqual(['a']);
  });

  test('refuses other dimensions, other states and other fields by name', async ({ service }) => {
    const refused = async (path: string, body: unknown) => {
      const answer = await send(service, `PUT ${path}`, { ifMatch: '"1"', body });
      return [answer.status, JSON.stringify(answer.body.errors)];
    };
    expect(await refused('/v1/dimensions/seller', { state: 'off' })).toEqual([
      400,
      expect.stringContaining('"params.dimension"'),
    ]);
    expect(await refused('/v1/dimensions/brand', { state: false })).toEqual([
      400,
      expect.stringContaining('"state"'),
    ]);
    expect(await refused('/v1/dimensions/brand', { state: 'off', until: 'noon' })).toEqual([
      400,
      expect.stringContaining('"until"'),
    ]);
    expect((await get(service)).body.version).toBe(1);
  });
});

test('of 100 changes by 25 editors at once on two instances none is lost: the slower gets 412 and tries again', async ({
  servers,
}) => {
  const unlimited = { ADCAP_RATE_LIMIT_PEER: '1000000', ADCAP_RATE_LIMIT_ACTOR: '1000000' };
  await using one = await startRulesService(servers, unlimited);
  await using other = await startRulesService(servers, unlimited);
  await Promise.all([one.whenUp(), other.whenUp()]);
  let stale = 0;
  /** One at a time, or within the whole set as it was read: whoever is not stopped there takes others' rules away. */
  const addRule = async (service: RulesService, id: string, isWhole: boolean): Promise<void> => {
    for (;;) {
      const { headers, body: set } = await get(service);
      const ifMatch = headers.get('etag') ?? '';
      const body = isWhole ? { ...set, rules: [...(set.rules ?? []), capRule(id, 3)] } : capRule(id, 3);
      const answer = await send(service, `${isWhole ? 'PUT' : 'POST'} /v1/rules`, { ifMatch, body });
      if (answer.status < 300) return;
      expect(answer.body).toMatchObject({ status: 412, code: 'ADCAP_RULES_STALE' });
      stale += 1;
    }
  };
  const ids = Array.from({ length: 100 }, (_, index) => `c${index}`);
  const editors = Array.from({ length: 25 }, async (_, editor) => {
    // oxlint-disable-next-line no-await-in-loop -- each editor makes one change after the other
    for (const [index, id] of ids.slice(editor * 4, editor * 4 + 4).entries()) {
      // Each editor makes one change after the other.
      // oxlint-disable-next-line no-await-in-loop
      await addRule(editor % 2 === 0 ? one : other, id, index % 2 === 0);
    }
  });
  await Promise.all(editors);

  expect((await idsOf(one))?.toSorted()).toEqual(ids.toSorted());
  expect((await get(other)).body.version).toBe(101);
  expect(stale).toBeGreaterThan(0);
});
