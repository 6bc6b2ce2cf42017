import { once } from 'node:events';
import { connect } from 'node:net';
import { fastify } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { expect, test } from 'vitest';
import { drainConnections } from '../src/drain-connections.ts';
import { listen } from '../src/index.ts';
import { startServer } from './start-server.ts';

/** A close that waits for idle connections would take the keep-alive time, 65 s. */
const PROMPTLY = { timeout: 5_000 };

test('a draining server finishes what it has, on kept-alive connections too', PROMPTLY, async () => {
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const draining = Promise.withResolvers<void>();
  const sample = await startServer((server) => {
    server.addHook('preClose', async () => draining.resolve());
    server.get('/slow', async () => {
      entered.resolve();
      await release.promise;
      return { done: true };
    });
  });
  const slow = fetch(new URL('/slow', sample.address));
  await entered.promise;
  const closed = sample.server.close();
  await draining.promise;
  release.resolve();
  const response = await slow;
  expect(response.headers.get('connection')).toBe('close');
  expect(await response.json()).toEqual({ done: true });
  await closed;
  await expect(fetch(new URL('/slow', sample.address))).rejects.toThrow('fetch failed');
});

test('a connection that was opened ahead and never used does not hold up the stop', PROMPTLY, async () => {
  const sample = await startServer(() => undefined);
  const { hostname, port } = new URL(sample.address);
  const accepted = once(sample.server.server, 'connection');
  const socket = connect(Number(port), hostname);
  await accepted;
  await sample.server.close();
  await once(socket.resume(), 'close');
  expect(socket.destroyed).toBe(true);
});

test('a caller that never takes its answer is cut off, and the server closes', PROMPTLY, async () => {
  const entered = Promise.withResolvers<void>();
  const server = fastify().withTypeProvider<ZodTypeProvider>();
  drainConnections(server, 50);
  server.get('/stuck', async () => {
    entered.resolve();
    return new Promise<never>(() => undefined);
  });
  const address = await listen(server, { host: '127.0.0.1', port: 0 });
  const stuck = fetch(new URL('/stuck', address)).catch((error: unknown) => error);
  await entered.promise;
  await server.close();
  expect(await stuck).toBeInstanceOf(TypeError);
});
