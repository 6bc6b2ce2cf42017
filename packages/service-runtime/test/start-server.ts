import { connect } from 'node:net';
import {
  createHealth,
  createHttpServer,
  createLogger,
  createMetricsRegistry,
  type HttpServer,
  type HttpServerOptions,
  listen,
} from '../src/index.ts';

/** The lines that a logger wrote, parsed. */
export const collectLogs = () => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => {
    lines.push(JSON.parse(line));
  };
  return { lines, write };
};

/** A server (on a free port unless told) with the routes that a test adds, closed by `await using`. */
export const startServer = async (
  addRoutes: (server: HttpServer) => void | Promise<void>,
  overrides: Partial<HttpServerOptions> = {},
  port = 0,
) => {
  const logs = collectLogs();
  const health = createHealth();
  health.markReady();
  const server = await createHttpServer({
    name: 'sample',
    version: '1.2.3',
    title: 'Sample',
    description: 'A service made up for tests.',
    logger: createLogger({ name: 'sample', level: 'info' }, logs),
    registry: createMetricsRegistry(),
    health,
    bodyLimitBytes: 1_024,
    trustProxy: false,
    requestTimeoutMs: 5_000,
    ...overrides,
  });
  await addRoutes(server);
  const address = await listen(server, { host: '127.0.0.1', port });
  const close = async (): Promise<void> => server.close();
  return { server, address, health, logs: logs.lines, [Symbol.asyncDispose]: close };
};

/** Sends these very bytes and resolves with all that came back until the server hung up. */
export const sendRaw = async (address: string, bytes: string): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'));
  let answer = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  socket.on('error', reject);
  socket.on('close', () => resolve(answer));
  return promise;
};
