import type { HttpServer } from './http-server.ts';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is already in use',
  EACCES: 'this user may not open the port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name cannot be resolved',
};

/** Opens the server to callers and returns its address (`http://127.0.0.1:8081`); port 0 takes a free one. */
export const listen = async (
  server: HttpServer,
  address: { host: string; port: number },
): Promise<string> => {
  try {
    return await server.listen(address);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = REASONS[code];
    if (reason === undefined) throw error;
    throw new Error(`cannot listen on ${address.host}:${address.port}: ${reason}`, { cause: error });
  }
};
