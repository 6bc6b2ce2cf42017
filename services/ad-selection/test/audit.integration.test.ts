import type { AuditEvent } from '@adcap/contracts';
import { deviceTag } from '@adcap/identity';
import { createLogger } from '@adcap/service-runtime';
import { describe, expect } from 'vitest';
import { test as base } from './fixtures.ts';
import { OPERATOR, rulesOf, type Selection, startSelection } from './start-selection.ts';

const DEVICE = 'a-viewer-by-its-own-name';
const OTHER_TOKEN = 'a-viewers-token';

type Audited = Selection & {
  records: AuditEvent[];
  lines: string[];
  call: (method: string, path: string, options?: { token?: string; body?: unknown }) => Promise<number>;
};

const test = base.extend<{ start: (config?: Record<string, string>) => Promise<Audited> }>({
  start: async ({ redisUrl, keyPrefix }, use) => {
    await using stack = new AsyncDisposableStack();
    await use(async (config = {}) => {
      const records: AuditEvent[] = [];
      const lines: string[] = [];
      const logger = createLogger(
        { name: 'test', level: 'trace' },
        { write: (line) => void lines.push(line) },
      );
      const selection = await startSelection({
        redisUrl,
        keyPrefix,
        logger,
        onAudit: (record) => void records.push(record),
        config: { ADCAP_TOKEN_OPERATOR: `olga=${OPERATOR}`, ADCAP_TOKEN_VIEWER: OTHER_TOKEN, ...config },
      });
      stack.defer(() => selection.close());
      selection.setRules(rulesOf([{ dimension: 'creative', limit: { max: 3, window: '60m' } }]));
      const call: Audited['call'] = async (method, path, { token, body } = {}) => {
        const response = await fetch(selection.url + path, {
          method,
          headers: {
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        await response.arrayBuffer();
        return response.status;
      };
      return { ...selection, records, lines, call };
    });
  },
});

const withoutTime = (records: readonly AuditEvent[]) =>
  records.map(({ type: _type, v: _v, at: _at, peer: _peer, service: _service, ...record }) => record);

const OLGA = { actor: 'olga', role: 'operator' };
const target = `device:${deviceTag(DEVICE)}`;

describe('the audit trail of devices', () => {
  test('has every look at a device and every switch, refused ones too, the device by its tag alone', async ({
    start,
  }) => {
    const { call, records, lines } = await start();
    const device = `/v1/devices/${DEVICE}`;
    const statuses = [
      await call('GET', device, { token: OPERATOR }),
      await call('DELETE', device, { token: OPERATOR }),
      await call('GET', device, { token: OTHER_TOKEN }),
      await call('GET', device, { token: 'a-guessed-token' }),
      await call('GET', `${device}?at=1700000000`, { token: OPERATOR }),
      await call('PUT', '/v1/switches/answer-open', { token: OPERATOR, body: { forMs: 60_000 } }),
      await call('DELETE', '/v1/switches/answer-open', { token: OPERATOR }),
      await call('DELETE', '/v1/switches/answer-open', { token: OTHER_TOKEN }),
    ];
    expect(statuses).toEqual([200, 204, 403, 401, 400, 200, 200, 403]);
    const viewer = { actor: 'viewer', role: 'viewer' };
    expect(withoutTime(records)).toEqual([
      { ...OLGA, action: 'device.read', target, outcome: 'done' },
      { ...OLGA, action: 'device.erase', target, outcome: 'done' },
      { ...viewer, action: 'device.read', target, outcome: 'refused', code: 'ADCAP_AUTH_ROLE' },
      {
        actor: null,
        role: null,
        action: 'device.read',
        target,
        outcome: 'refused',
        code: 'ADCAP_AUTH_MISSING',
      },
      { ...OLGA, action: 'device.read', target, outcome: 'refused', code: 'ADCAP_REQUEST_INVALID' },
      { ...OLGA, action: 'switch.set', target: 'switch:answer-open', outcome: 'done' },
      { ...OLGA, action: 'switch.clear', target: 'switch:answer-open', outcome: 'done' },
      {
        ...viewer,
        action: 'switch.clear',
        target: 'switch:answer-open',
        outcome: 'refused',
        code: 'ADCAP_AUTH_ROLE',
      },
    ]);
    const told = lines.join('') + JSON.stringify(records);
    expect(told).toContain('"msg":"audit"');
    for (const secret of [DEVICE, OPERATOR, OTHER_TOKEN, 'a-guessed-token'])
      expect(told).not.toContain(secret);
  });

  test('has an explanation with impressions, and no other decision', async ({ start }) => {
    const { call, records } = await start();
    const ask = (breakId: string, explain: boolean) => ({
      deviceId: DEVICE,
      breakId,
      breakAt: Date.now(),
      candidates: [{ creativeId: 'c1' }],
      explain,
    });
    const asked = [
      await call('POST', '/v1/selections', { token: OPERATOR, body: ask('b1', true) }),
      await call('POST', '/v1/selections', { token: OPERATOR, body: ask('b2', false) }),
      await call('POST', '/v1/selections', { token: OTHER_TOKEN, body: ask('b3', true) }),
      await call('POST', '/v1/selections', { body: ask('b4', true) }),
    ];
    expect(asked).toEqual([200, 200, 200, 200]);
    expect(withoutTime(records)).toEqual([{ ...OLGA, action: 'device.explain', target, outcome: 'done' }]);
  });
});

test('what an operator asks is limited by bearer and address, decisions are not', async ({ start }) => {
  const { call, records } = await start({ ADCAP_RATE_LIMIT_ACTOR: '2', ADCAP_RATE_LIMIT_PEER: '4' });
  const look = (token: string) => call('GET', `/v1/devices/${DEVICE}`, { token });
  const looked: number[] = [];
  // oxlint-disable-next-line no-await-in-loop -- counted in this order
  for (const token of [OPERATOR, OPERATOR, OPERATOR, 'guessed', 'guessed']) looked.push(await look(token));
  expect(looked).toEqual([200, 200, 429, 401, 429]);
  expect(records).toHaveLength(3);
  const decisions = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      call('POST', '/v1/selections', {
        body: {
          deviceId: DEVICE,
          breakId: `b${index}`,
          breakAt: Date.now(),
          candidates: [{ creativeId: 'c1' }],
        },
      }),
    ),
  );
  expect(new Set(decisions)).toEqual(new Set([200]));
});
