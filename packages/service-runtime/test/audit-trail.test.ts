import { AppError, auditEventSchema, epochMs } from '@adcap/contracts';
import { expect, test } from 'vitest';
import {
  accessTokens,
  createAuditTrail,
  createLogger,
  createMetricsRegistry,
  type HttpServer,
  requireRole,
} from '../src/index.ts';
import { collectLogs, startServer } from './start-server.ts';

const NOW = epochMs(1_800_000_000_000);
const tokens = { editor: accessTokens.parse('jane=e-token'), viewer: accessTokens.parse('v-token') };

const createSample = async (
  send?: (key: string, value: string) => Promise<void>,
  wait: () => Promise<void> = async () => undefined,
) => {
  const logs = collectLogs();
  const registry = createMetricsRegistry();
  const sent: { key: string; value: string }[] = [];
  const trail = createAuditTrail({
    service: 'sample',
    clock: { nowMs: () => NOW },
    logger: createLogger({ name: 'sample', level: 'info' }, logs),
    registry,
    send: send ?? (async (key, value) => void sent.push({ key, value })),
  });
  const addRoutes = (server: HttpServer) => {
    server.post(
      '/things/:id',
      {
        onRequest: requireRole(tokens, 'editor'),
        onSend: trail.onSend('rules.edit', ({ params }) => `rule:${Object.values(params ?? {}).join()}`),
      },
      async (request) => {
        await wait();
        const { how } = JSON.parse(JSON.stringify(request.body)) as { how: string };
        if (how === 'stale') throw new AppError('ADCAP_RULES_STALE', 'no');
        if (how === 'broken') throw new Error('broken');
        request.audited = how === 'stored' ? { version: 7, outcome: 'stored' } : { version: 7 };
        return {};
      },
    );
  };
  const sample = await startServer(addRoutes);
  const post = async (
    token: string,
    how: string,
    { id = 'c1', signal }: { id?: string; signal?: AbortSignal } = {},
  ) => {
    const response = await fetch(new URL(`/things/${id}`, sample.address), {
      method: 'POST',
      ...(signal === undefined ? {} : { signal }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: how === 'not json' ? '{' : JSON.stringify({ how }),
    });
    return response.status;
  };
  const records = () => sent.map(({ key, value }) => ({ key, ...auditEventSchema.parse(JSON.parse(value)) }));
  return { post, records, logs: logs.lines, registry, [Symbol.asyncDispose]: sample[Symbol.asyncDispose] };
};

test('every answer of an audited route is a record, done or refused, by whom and to what', async () => {
  await using sample = await createSample();
  const asked = [
    ['e-token', 'well'],
    ['e-token', 'stored'],
    ['e-token', 'stale'],
    ['e-token', 'not json'],
    ['e-token', 'broken'],
    ['v-token', 'well'],
    ['guessed', 'well'],
  ] as const;
  const statuses: number[] = [];
  // oxlint-disable-next-line no-await-in-loop -- the records come in this order
  for (const [token, how] of asked) statuses.push(await sample.post(token, how));
  expect(statuses).toEqual([200, 200, 412, 400, 500, 403, 401]);

  const jane = { actor: 'jane', role: 'editor' };
  expect(sample.records()).toMatchObject([
    { ...jane, outcome: 'done', version: 7 },
    { ...jane, outcome: 'stored', version: 7 },
    { ...jane, outcome: 'refused', code: 'ADCAP_RULES_STALE' },
    { ...jane, outcome: 'refused', code: 'ADCAP_REQUEST_MALFORMED' },
    { ...jane, outcome: 'failed', code: 'ADCAP_INTERNAL' },
    { actor: 'viewer', role: 'viewer', outcome: 'refused', code: 'ADCAP_AUTH_ROLE' },
    { actor: null, role: null, outcome: 'refused', code: 'ADCAP_AUTH_MISSING' },
  ]);
  expect(sample.records()[0]).toEqual({
    key: 'rule:c1',
    type: 'AUDIT',
    v: 1,
    at: NOW,
    service: 'sample',
    ...jane,
    action: 'rules.edit',
    target: 'rule:c1',
    outcome: 'done',
    version: 7,
    peer: '127.0.0.1',
  });
  expect(sample.logs.filter(({ msg, level }) => msg === 'audit' && level === 'info')).toHaveLength(
    asked.length,
  );
});

test('a record that cannot be written is logged whole and counted, and the answer does not wait for it', async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  await using sample = await createSample(() => promise);
  expect(await sample.post('e-token', 'well')).toBe(200);
  reject(new Error('brokers away'));
  await expect
    .poll(() => sample.logs.find(({ msg }) => msg === 'an audit record could not be written'))
    .toMatchObject({ level: 'warn', audit: { type: 'AUDIT', actor: 'jane', target: 'rule:c1', version: 7 } });
  expect(await sample.registry.getSingleMetric('adcap_audit_records_total')?.get()).toMatchObject({
    values: [{ labels: { outcome: 'unwritten' }, value: 1 }],
  });
});

test('whoever hangs up before the answer is in the trail all the same', async () => {
  const { promise: asked, resolve: noteAsked } = Promise.withResolvers<void>();
  const { promise: goOn, resolve: resume } = Promise.withResolvers<void>();
  await using sample = await createSample(undefined, async () => {
    noteAsked();
    await goOn;
  });
  const hangUp = new AbortController();
  const posting = sample.post('e-token', 'well', { signal: hangUp.signal });
  await asked;
  hangUp.abort();
  await expect(posting).rejects.toThrow('aborted');
  resume();
  await expect.poll(() => sample.records()).toMatchObject([{ actor: 'jane', outcome: 'done', version: 7 }]);
});

test('a target is bounded', async () => {
  await using sample = await createSample();
  await sample.post('e-token', 'well', { id: 'x'.repeat(2_000) });
  expect(sample.records()[0]?.target).toHaveLength(300);
});
