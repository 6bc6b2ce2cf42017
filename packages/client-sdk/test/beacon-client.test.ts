import { BeaconClientError, createBeaconClient } from '@adcap/client-sdk';
import { expect, test } from 'vitest';
import { answering, startServer } from './start-server.ts';

const impressions = [{ deviceId: 'd1', creativeId: 'a', impressionId: 'i1', ageMs: 1_000 }];
const answer = { accepted: 1, duplicates: 0, ignored: 0, rejected: [] };

const failure = async (baseUrl: string): Promise<BeaconClientError> => {
  const error: unknown = await createBeaconClient({ baseUrl, timeoutMs: 200 })
    .post({ impressions })
    .catch((caught: unknown) => caught);
  if (error instanceof BeaconClientError) return error;
  throw new Error('it did not fail as it should', { cause: error });
};

test('what was taken is answered, and the batch arrives as it was written', async () => {
  const seen: string[] = [];
  const baseUrl = await startServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    incoming.on('end', () => {
      seen.push(`${incoming.method} ${incoming.url} ${body}`);
      answering(202, JSON.stringify(answer))(incoming, response);
    });
  });
  const batch = { sentAt: 1_764_500_000_000, impressions };
  expect(await createBeaconClient({ baseUrl, timeoutMs: 4_999.5 }).post(batch)).toEqual(answer);
  expect(seen).toEqual([`POST /v1/impressions ${JSON.stringify(batch)}`]);
});

test('another fetch may be given', async () => {
  const asked: string[] = [];
  const client = createBeaconClient({
    baseUrl: 'http://beacon.invalid',
    fetch: async (url) => {
      asked.push(url instanceof URL ? url.href : '');
      return Response.json(answer, { status: 202 });
    },
  });
  expect(await client.post({ impressions })).toEqual(answer);
  expect(asked).toEqual(['http://beacon.invalid/v1/impressions']);
});

test('a timeout that is none is refused when the client is made', () => {
  expect(() => createBeaconClient({ baseUrl: 'http://127.0.0.1:1', timeoutMs: 0 })).toThrow(RangeError);
});

test('a 503 may be sent again, after the time that it names', async () => {
  const baseUrl = await startServer(answering(503, '{}', { 'retry-after': '2' }));
  expect(await failure(baseUrl)).toMatchObject({ status: 503, retryable: true, retryAfterMs: 2_000 });
});

test('a 400 may not', async () => {
  const baseUrl = await startServer(answering(400, '{"detail":"impressions: is empty"}'));
  const error = await failure(baseUrl);
  expect(error).toMatchObject({ status: 400, retryable: false, retryAfterMs: undefined });
  expect(error.message).toContain('impressions: is empty');
});

test.for([
  ['a broken connection', 'break'],
  ['no answer', 'hang'],
  ['an answer that cannot be read', 'garble'],
] as const)('%s may be sent again', async ([, fault]) => {
  const baseUrl = await startServer((request, response) => {
    request.resume();
    if (fault === 'break') request.socket.destroy();
    if (fault === 'garble') response.writeHead(202).end('accepted');
  });
  expect(await failure(baseUrl)).toMatchObject({ status: undefined, retryable: true });
});
