import { createServer } from 'node:net';
import { createSelectionClient } from '@adcap/client-sdk';
import { type SelectionAnswer, type SelectionRequestInput, selectionAnswerSchema } from '@adcap/contracts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answering, startServer } from './start-server.ts';

const BREAK_AT = 1_764_500_000_000;

const request: SelectionRequestInput = {
  deviceId: 'd1',
  breakId: 'b1',
  breakAt: BREAK_AT,
  slots: 2,
  candidates: [{ creativeId: 'a' }, { creativeId: 'b' }, { creativeId: 'c' }],
};

const answer: SelectionAnswer = {
  breakId: 'b1',
  breakAt: BREAK_AT,
  serverTime: BREAK_AT,
  source: 'quotas',
  degraded: false,
  reserved: true,
  rulesVersion: 3,
  asOf: BREAK_AT - 20,
  candidates: ['a', 'b', 'c'].map((creativeId, index) => ({
    index,
    creativeId,
    outcome: 'capped',
    allowed: false,
    remaining: 0,
  })),
  pod: [],
  unfilled: 2,
};

/** A server that accepts connections and never answers. */
const startSilence = async (): Promise<string> => {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
};

/** Where nobody listens any more. */
const startClosed = async (): Promise<string> => {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
};

test('the service’s answer is given as it is, and the request arrives as it was written', async () => {
  const seen: { url: string | undefined; body: string }[] = [];
  const baseUrl = await startServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    incoming.on('end', () => {
      seen.push({ url: incoming.url, body });
      answering(200, JSON.stringify(answer))(incoming, response);
    });
  });
  const client = createSelectionClient({ baseUrl: `${baseUrl}/adcap`, timeoutMs: 5_000 });
  expect(await client.select(request)).toEqual(answer);
  expect(seen).toEqual([{ url: '/adcap/v1/selections', body: JSON.stringify(request) }]);
});

describe('what goes wrong is answered open, with the reason', () => {
  const open = async (baseUrl: string, timeoutMs = 5_000) =>
    createSelectionClient({ baseUrl, timeoutMs }).select(request);
  const degraded = { source: 'open', degraded: true, reserved: false, rulesVersion: null };

  test('no answer in time', async () => {
    const from = performance.now();
    const result = await open(await startSilence(), 40);
    expect(result).toMatchObject({ ...degraded, degradedReason: 'client_timeout' });
    expect(performance.now() - from).toBeLessThan(2_000);
  });

  test('an answer that begins in time and does not end', async () => {
    const baseUrl = await startServer((incoming, response) => {
      incoming.resume();
      response.writeHead(200).write('{"breakId":');
    });
    expect(await open(baseUrl, 40)).toMatchObject({ ...degraded, degradedReason: 'client_timeout' });
  });

  test('nobody listens', async () => {
    const result = await open(await startClosed());
    expect(result).toMatchObject({ ...degraded, degradedReason: 'client_unreachable' });
    expect(result.clientError?.message).toContain('ECONNREFUSED');
  });

  test('a connection that breaks', async () => {
    const baseUrl = await startServer((incoming) => incoming.socket.destroy());
    expect(await open(baseUrl)).toMatchObject({ ...degraded, degradedReason: 'client_unreachable' });
  });

  test.for([400, 404, 500, 503])('status %i', async (status) => {
    const baseUrl = await startServer(answering(status, '{"detail":"breakAt: is wrong"}'));
    expect(await open(baseUrl)).toMatchObject({
      ...degraded,
      degradedReason: 'client_status',
      clientError: { status, message: '{"detail":"breakAt: is wrong"}' },
    });
  });

  test.for([
    ['no JSON', '<html>'],
    ['cut short', JSON.stringify(answer).slice(0, -5)],
    ['null', 'null'],
    ['another thing', '{}'],
    ['fewer candidates than were asked about', JSON.stringify({ ...answer, candidates: [] })],
  ] as const)('a body that is %s', async ([, body]) => {
    expect(await open(await startServer(answering(200, body)))).toMatchObject({
      ...degraded,
      degradedReason: 'client_bad_answer',
    });
  });

  test('a request that cannot be written', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const client = createSelectionClient({ baseUrl: 'http://127.0.0.1:1' });
    const wrong = { ...request, context: circular as Record<string, string> };
    expect(await client.select(wrong)).toMatchObject({ ...degraded, degradedReason: 'client_bad_request' });
  });
});

describe('the open answer', () => {
  const openFor = (asked: SelectionRequestInput) =>
    createSelectionClient({ baseUrl: 'http://127.0.0.1:1' }).select(asked);

  test('has the shape of the service’s answer', async () => {
    const { degradedReason: _reason, clientError: _error, ...rest } = await openFor(request);
    expect(selectionAnswerSchema.parse(rest)).toEqual(rest);
  });

  test('fills the pod in the caller’s order', async () => {
    expect(await openFor(request)).toMatchObject({
      breakId: 'b1',
      breakAt: BREAK_AT,
      pod: [
        { slot: 1, index: 0, creativeId: 'a', reservationId: '' },
        { slot: 2, index: 1, creativeId: 'b', reservationId: '' },
      ],
      unfilled: 0,
      candidates: [{ outcome: 'placed' }, { outcome: 'placed' }, { outcome: 'noSlot', allowed: true }],
    });
  });

  test('keeps the lengths of slots and pod', async () => {
    const result = await openFor({
      ...request,
      slots: [{ maxMs: 15_000 }, {}, {}],
      podDurationMs: 50_000,
      candidates: [
        { creativeId: 'long', durationMs: 30_000 },
        { creativeId: 'short', durationMs: 15_000 },
        { creativeId: 'late', durationMs: 10_000 },
      ],
    });
    expect(result.pod.map(({ slot, creativeId }) => [slot, creativeId])).toEqual([
      [1, 'short'],
      [2, 'long'],
    ]);
    expect(result.unfilled).toBe(1);
    expect(result.emptySlots).toEqual([{ slot: 3, reasons: [{ reason: 'tooLong', candidates: 1 }] }]);
  });

  test.for([
    ['a number', 1e10],
    ['a list', Array.from({ length: 50 }, () => ({}))],
  ] as const)('more slots than there may be, as %s, are no failure', async ([, slots]) => {
    const result = await openFor({ ...request, slots: typeof slots === 'number' ? slots : [...slots] });
    expect(result.pod).toHaveLength(3);
    expect(result.unfilled).toBe(17);
    expect(result.emptySlots?.[0]).toEqual({
      slot: 4,
      reasons: [{ reason: 'noCandidates', candidates: 0 }],
    });
  });

  test('without slots everything is allowed and nothing placed', async () => {
    const { slots: _slots, ...asked } = request;
    const result = await openFor({ ...asked, breakAt: new Date(BREAK_AT).toISOString() });
    expect(result).toMatchObject({ breakAt: BREAK_AT, pod: [], unfilled: 0 });
    expect(result.candidates.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed', 'allowed']);
  });
});

test('what is left of a budget need not be whole milliseconds', async () => {
  const baseUrl = await startServer(answering(200, JSON.stringify(answer)));
  expect(await createSelectionClient({ baseUrl, timeoutMs: 4_999.5 }).select(request)).toEqual(answer);
});

test('another fetch may be given', async () => {
  const fetch = async () => Response.json(answer);
  expect(await createSelectionClient({ baseUrl: 'http://x.invalid', fetch }).select(request)).toEqual(answer);
});

test.for([0, -1, Number.NaN])('a timeout of %d is refused when the client is made', (timeoutMs) => {
  expect(() => createSelectionClient({ baseUrl: 'http://127.0.0.1:1', timeoutMs })).toThrow(RangeError);
});

test('a base URL that is none is refused when the client is made', () => {
  expect(() => createSelectionClient({ baseUrl: 'ad-selection' })).toThrow('Invalid URL');
});
