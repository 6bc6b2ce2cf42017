import { createServer } from 'node:net';
import { LocalServerError } from './local-server-error.ts';

const listenOn = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });

/** A port of the loopback address that nobody listens on. */
export const freePort = (): Promise<number> => listenOn(0);

/** Refuses a port that somebody listens on, naming it. */
export const assertPortFree = async (port: number, what: string): Promise<void> => {
  try {
    await listenOn(port);
  } catch (cause) {
    const taken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
    throw new LocalServerError(
      'PORT_TAKEN',
      taken
        ? `port ${port} is taken: free it, or set another for ${what}`
        : `port ${port} cannot be listened on: set another for ${what}`,
      cause,
    );
  }
};
