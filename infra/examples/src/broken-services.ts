import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { freePort } from '@adcap/local-servers';

/** A service that a client cannot use, and what the client says then. */
export type BrokenService = { what: string; url: string; reason: string; timeoutMs: number };

/** Long enough for a Java that has just started on a busy machine. */
const PATIENT_MS = 10_000;
const HASTY_MS = 300;

const listening = async (stack: AsyncDisposableStack, listener: RequestListener): Promise<string> => {
  const server: Server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`;
};

const answering =
  (status: number, body: string): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };

/** Answers with everything but the end of its body. */
const neverEnding: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"source":');
};

/** Breaks the connection in the middle of its body. */
const breaking: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200, { 'content-length': 1_000 });
  response.write('{"source":', () => response.destroy());
};

/** Every way in which the clients answer by themselves. */
export const startBrokenServices = async (stack: AsyncDisposableStack): Promise<BrokenService[]> => {
  const at = (listener: RequestListener): Promise<string> => listening(stack, listener);
  const patient = { timeoutMs: PATIENT_MS };
  const silent: RequestListener = (request) => void request.resume();
  return [
    { what: 'silence', url: await at(silent), reason: 'client_timeout', timeoutMs: HASTY_MS },
    { what: 'an endless body', url: await at(neverEnding), reason: 'client_timeout', timeoutMs: HASTY_MS },
    {
      what: 'a refused connection',
      url: `http://127.0.0.1:${await freePort()}`,
      reason: 'client_unreachable',
      ...patient,
    },
    { what: 'a broken connection', url: await at(breaking), reason: 'client_unreachable', ...patient },
    { what: 'a status of 503', url: await at(answering(503, '{}')), reason: 'client_status', ...patient },
    {
      what: 'a body that is no JSON',
      url: await at(answering(200, '<html>')),
      reason: 'client_bad_answer',
      ...patient,
    },
    {
      what: 'JSON that is no answer',
      url: await at(answering(200, '{"ok":true}')),
      reason: 'client_bad_answer',
      ...patient,
    },
  ];
};
