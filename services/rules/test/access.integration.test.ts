import { createHash } from 'node:crypto';
import { topicName } from '@adcap/contracts';
import { createMissingTopics } from '@adcap/kafka-bus';
import { createLogger } from '@adcap/service-runtime';
import { waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';
import { capRule, get, put, type RulesService, readAudit, startRulesService } from './start-rules-service.ts';

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');

const READS = [
  '/v1/rules',
  '/v1/rules/versions',
  '/v1/rules/versions/1',
  '/v1/rules/diff?from=1',
  '/v1/rules/effective?creativeId=c1',
];
const CHANGES = [
  ['PUT', '/v1/rules', { rules: [] }, 'rules.replace', 'rules'],
  ['POST', '/v1/rules', capRule('a', 1), 'rules.add', 'rule:a'],
  ['PUT', '/v1/rules/b', capRule('b', 1), 'rules.edit', 'rule:b'],
  ['DELETE', '/v1/rules/c', undefined, 'rules.remove', 'rule:c'],
  ['PUT', '/v1/dimensions/brand', { state: 'off' }, 'rules.switch', 'dimension:brand'],
  ['POST', '/v1/rules/rollback', { version: 1 }, 'rules.rollback', 'version:1'],
] as const;

const statusesOf = async (
  service: RulesService,
  calls: readonly (readonly [method: string, path: string, body?: unknown, ...rest: unknown[]])[],
  token: string | undefined,
) => {
  const answers = await Promise.all(
    calls.map(([method, path, body]) =>
      service.call(method, path, { ...(token === undefined ? {} : { token }), ifMatch: '"99"', body }),
    ),
  );
  return [...new Set(answers.map(({ status }) => status))];
};
const reads = READS.map((path) => ['GET', path] as const);

describe('who may do what', () => {
  test('every read needs a viewer and every change an editor', async ({ service }) => {
    // oxlint-disable-next-line no-await-in-loop
    for (const token of ['a-viewer', 'an-editor', 'an-operator'])
      expect([token, await statusesOf(service, reads, token)]).toEqual([token, [200]]);
    expect(await statusesOf(service, reads, 'guessed')).toEqual([401]);
    expect(await statusesOf(service, CHANGES, undefined)).toEqual([401]);
    expect(await statusesOf(service, CHANGES, 'a-viewer')).toEqual([403]);
    expect(await statusesOf(service, CHANGES, 'an-editor')).toEqual([412]);
  });

  test('without tokens every read is answered on this machine only, and nothing is changed', async ({
    servers,
  }) => {
    const none = { ADCAP_TOKEN_VIEWER: '', ADCAP_TOKEN_EDITOR: '', ADCAP_TOKEN_OPERATOR: ' , ' };
    await using service = await startRulesService(servers, none);
    await service.whenUp();
    expect(await statusesOf(service, reads, undefined)).toEqual([200]);
    expect(await statusesOf(service, CHANGES, undefined)).toEqual([401]);
    const forwarded = await service.call('GET', '/v1/rules/versions', {
      headers: { 'x-forwarded-for': '203.0.113.9' },
    });
    expect(forwarded.status).toBe(401);
  });

  test('a token that is configured by its hash opens by itself and not by its hash; its name is the author', async ({
    servers,
  }) => {
    await using service = await startRulesService(servers, {
      ADCAP_TOKEN_EDITOR: `jane=sha256:${hashOf('janes-own')}, sha256:${hashOf('shared')}`,
    });
    await service.whenUp();
    const change = (token: string, ifMatch: string) =>
      service.call('PUT', '/v1/rules', { token, ifMatch, body: { rules: [] } });
    expect((await change('janes-own', '"1"')).status).toBe(200);
    expect((await change('shared', '"2"')).status).toBe(200);
    // oxlint-disable-next-line no-await-in-loop
    for (const wrong of [hashOf('janes-own'), `sha256:${hashOf('shared')}`, 'jane'])
      expect((await change(wrong, '"3"')).status).toBe(401);
    const { body } = await service.call('GET', '/v1/rules/versions', { token: 'shared' });
    expect(body.versions?.map(({ author }) => author)).toEqual(['editor', 'jane', 'start']);
  });

  test('whoever sends too many is told when to come back, and nobody else is', async ({ servers }) => {
    await using service = await startRulesService(servers, { ADCAP_RATE_LIMIT_ACTOR: '3' });
    await service.whenUp();
    for (let sent = 0; sent < 3; sent += 1)
      // oxlint-disable-next-line no-await-in-loop
      expect((await get(service)).status).toBe(200);
    const refused = await service.call('GET', '/v1/rules/versions', { token: 'a-viewer' });
    expect([refused.status, refused.body.code]).toEqual([429, 'ADCAP_RATE_LIMITED']);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await put(service, '"1"', { rules: [] })).status).toBe(200);
    expect((await service.call('GET', '/readyz')).status).toBe(200);
  });

  test('an address that guesses is refused as one', async ({ servers }) => {
    await using service = await startRulesService(servers, { ADCAP_RATE_LIMIT_PEER: '5' });
    await service.whenUp();
    const statuses: number[] = [];
    // oxlint-disable-next-line no-await-in-loop
    for (const token of ['a', 'b', 'c', 'd', 'e', 'a-viewer'])
      statuses.push((await service.call('GET', '/v1/rules', { token })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });
});

describe('the audit trail', () => {
  test('has every change and every refused one, by whom, to what and with which version', async ({
    servers,
  }) => {
    await using service = await startRulesService(servers, { ADCAP_TOKEN_EDITOR: 'jane=an-editor' });
    await service.whenUp();
    const send = async (asked: string, body: unknown, options: object = {}) => {
      const [method = '', path = ''] = asked.split(' ');
      const answer = await service.call(method, path, { token: 'an-editor', ifMatch: '*', body, ...options });
      return answer.status;
    };
    const statuses: number[] = [];
    // oxlint-disable-next-line no-await-in-loop
    for (const [method, path, body] of CHANGES) statuses.push(await send(`${method} ${path}`, body));
    statuses.push(
      await send('POST /v1/rules', { ...capRule('a', 0), id: 'wrong' }),
      await send('POST /v1/rules', '{', {}),
      await send('PUT /v1/rules', { rules: [] }, { ifMatch: '"1"' }),
      await send('PUT /v1/rules', { rules: [] }, { token: 'a-viewer' }),
      await send('DELETE /v1/rules/a', undefined, { token: 'guessed' }),
    );
    expect(statuses).toEqual([200, 201, 404, 404, 200, 200, 400, 400, 412, 403, 401]);
    await get(service);

    const records = await waitFor(
      async () => {
        const found = await readAudit(servers);
        return found.length < statuses.length ? undefined : found;
      },
      { what: 'the audit records' },
    );
    const jane = { service: 'rules', actor: 'jane', role: 'editor', peer: '127.0.0.1' };
    const refused = (action: string, target: string, code: string) => ({
      ...jane,
      action,
      target,
      outcome: 'refused',
      code,
    });
    const expected = [
      { ...jane, action: 'rules.replace', target: 'rules', outcome: 'done', version: 2 },
      { ...jane, action: 'rules.add', target: 'rule:a', outcome: 'done', version: 3 },
      refused('rules.edit', 'rule:b', 'ADCAP_RULES_UNKNOWN_RULE'),
      refused('rules.remove', 'rule:c', 'ADCAP_RULES_UNKNOWN_RULE'),
      { ...jane, action: 'rules.switch', target: 'dimension:brand', outcome: 'done', version: 4 },
      { ...jane, action: 'rules.rollback', target: 'version:1', outcome: 'done', version: 5 },
      refused('rules.add', 'rule:wrong', 'ADCAP_RULES_INVALID'),
      refused('rules.add', 'rules', 'ADCAP_REQUEST_MALFORMED'),
      refused('rules.replace', 'rules', 'ADCAP_RULES_STALE'),
      { ...refused('rules.replace', 'rules', 'ADCAP_AUTH_ROLE'), actor: 'viewer', role: 'viewer' },
      { ...refused('rules.remove', 'rule:a', 'ADCAP_AUTH_MISSING'), actor: null, role: null },
    ];
    const told = records.map(({ type: _type, v: _v, at: _at, ...record }) => JSON.stringify(record));
    expect(told.map((record) => JSON.parse(record))).toEqual(expect.arrayContaining(expected));
    expect(records).toHaveLength(expected.length);
  });

  test('a change is answered where no record can be written; the record is in the log, whole', async ({
    redisUrl,
    kafkaBrokers,
    keyPrefix,
    topicPrefix,
  }) => {
    const topic = topicName('rules', topicPrefix);
    const config = { 'cleanup.policy': 'compact' };
    await createMissingTopics([kafkaBrokers], [{ topic, partitions: 1, config }], 1);
    const lines: string[] = [];
    const log = createLogger({ name: 'test', level: 'info' }, { write: (line) => void lines.push(line) });
    // There is a topic for rules and none for the trail.
    const servers = { redisUrl, kafkaBrokers, keyPrefix, topicPrefix };
    await using service = await startRulesService(servers, {}, log);
    await service.whenUp();
    expect((await put(service, '"1"', { rules: [] })).status).toBe(200);
    const line = await waitFor(
      () => lines.find((text) => text.includes('an audit record could not be written')),
      { what: 'the warning' },
    );
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      audit: { type: 'AUDIT', action: 'rules.replace', actor: 'editor', outcome: 'done', version: 2 },
    });
    const metrics = await fetch(`${service.address}/metrics`);
    expect(await metrics.text()).toContain('adcap_audit_records_total{outcome="unwritten"} 1');
  });
});

test('no token is ever logged: taken, refused, misspelt or as a hash', async ({ servers }) => {
  const lines: string[] = [];
  const log = createLogger({ name: 'test', level: 'trace' }, { write: (line) => void lines.push(line) });
  const secrets = ['janes-own-secret', 'the-viewers-secret', 'a-guessed-secret', 'a-secret-as-a-query'];
  await using service = await startRulesService(
    servers,
    {
      ADCAP_TOKEN_EDITOR: `jane=sha256:${hashOf('janes-own-secret')}`,
      ADCAP_TOKEN_VIEWER: 'the-viewers-secret',
    },
    log,
  );
  await service.whenUp();
  const change = (token: string, path = '/v1/rules') =>
    service.call('PUT', path, { token, ifMatch: '"1"', body: { rules: [] } });
  await change('a-guessed-secret');
  await change('the-viewers-secret');
  await change('janes-own-secret');
  await change('janes-own-secret');
  await change('a-guessed-secret', '/v1/rules?token=a-secret-as-a-query');
  await service.call('GET', '/v1/rules', { headers: { authorization: 'Basic a-guessed-secret' } });
  await service.call('POST', '/v1/rules', { token: 'janes-own-secret', ifMatch: '*', body: '{' });
  await waitFor(() => lines.filter((line) => line.includes('"msg":"audit"')).length >= 6, {
    what: 'the audit lines',
  });
  const logged = lines.join('');
  expect(logged).toContain('"actor":"jane"');
  for (const secret of [...secrets, hashOf('janes-own-secret')]) expect(logged).not.toContain(secret);
  const topic = JSON.stringify(await readAudit(servers));
  for (const secret of secrets) expect(topic).not.toContain(secret);
});
