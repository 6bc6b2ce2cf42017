import type { Socket } from 'node:net';
import type { HttpServer } from './http-server.ts';

/** Half of the time that a process has to stop: whoever still hangs on by then is cut off, and the rest can close. */
const CUT_OFF_MS = 5_000;

/**
 * Lets `server.close()` end soon. Node closes only connections that are idle at that moment; those that are answering
 * would idle on for the keep-alive time, and those that were opened ahead and never used would wait for their request.
 */
export const drainConnections = (server: HttpServer, cutOffMs = CUT_OFF_MS): void => {
  const unused = new Set<Socket>();
  let draining = false;

  server.server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.server.on('request', (request) => unused.delete(request.socket));
  server.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close');
  });
  server.addHook('preClose', (done) => {
    draining = true;
    for (const socket of unused) socket.destroy();
    const timer = setTimeout(() => server.server.closeAllConnections(), cutOffMs);
    server.server.once('close', () => clearTimeout(timer));
    done();
  });
};
