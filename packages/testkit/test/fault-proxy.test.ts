import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { startFaultProxy, waitFor } from '@adcap/testkit/servers';
import { test as base, describe, expect } from 'vitest';

type Echo = { port: number; received: () => string; open: () => number };

const test = base.extend<{ echo: Echo }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the fixture's dependencies from this pattern
  echo: async ({}, use) => {
    let received = '';
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        received += bytes.toString();
        socket.write(bytes);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await use({
      port: (server.address() as AddressInfo).port,
      received: () => received,
      open: () => sockets.size,
    });
    for (const socket of sockets) socket.destroy();
    server.close();
  },
});

const open = async (port: number) => {
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  let isClosed = false;
  socket.on('data', (bytes) => {
    heard += bytes.toString();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
  });
  await once(socket, 'connect');
  return { socket, heard: () => heard, isClosed: () => isClosed };
};

describe('startFaultProxy', () => {
  test('passes bytes both ways and the end of a stream', async ({ echo }) => {
    await using proxy = await startFaultProxy(echo.port);
    const client = await open(proxy.port);
    client.socket.write('one');
    await waitFor(() => client.heard() === 'one', { what: 'the echo' });
    client.socket.end();
    await waitFor(() => client.isClosed() && proxy.connections() === 0, { what: 'the end of the client' });
    await waitFor(() => echo.open() === 0, { what: 'the end of the server' });
    expect(echo.received()).toBe('one');
  });

  test('a black hole closes nothing, and what was sent arrives in order when packets pass again', async ({
    echo,
  }) => {
    await using proxy = await startFaultProxy(echo.port);
    const client = await open(proxy.port);
    client.socket.write('one');
    await waitFor(() => client.heard() === 'one', { what: 'the echo' });
    proxy.blackHole();
    client.socket.write('two');
    const late = await open(proxy.port);
    late.socket.end('three');
    await waitFor(() => proxy.connections() === 2, { what: 'both connections' });
    expect([echo.received(), client.isClosed(), late.isClosed()]).toEqual(['one', false, false]);
    await proxy.pass();
    await waitFor(() => client.heard() === 'onetwo' && late.isClosed(), { what: 'what was held' });
    expect(echo.received()).toContain('three');
    client.socket.destroy();
  });

  test('a delay keeps the order, also when it is taken away', async ({ echo }) => {
    await using proxy = await startFaultProxy(echo.port);
    const client = await open(proxy.port);
    proxy.delay({ toServerMs: 20, toClientMs: 20 });
    client.socket.write('one');
    await waitFor(() => echo.received() === 'one', { what: 'the first bytes' });
    client.socket.write('two');
    await proxy.pass();
    client.socket.write('three');
    await waitFor(() => client.heard().length === 'onetwothree'.length, { what: 'everything' });
    expect(client.heard()).toBe('onetwothree');
    client.socket.destroy();
  });

  test('reset breaks what is open and takes new connections; refuse does not, until packets pass again', async ({
    echo,
  }) => {
    await using proxy = await startFaultProxy(echo.port);
    const client = await open(proxy.port);
    proxy.reset();
    await waitFor(() => client.isClosed() && echo.open() === 0, { what: 'a broken connection' });
    const second = await open(proxy.port);
    await proxy.refuse();
    await waitFor(() => second.isClosed(), { what: 'another broken connection' });
    await expect(open(proxy.port)).rejects.toThrow('ECONNREFUSED');
    await proxy.pass();
    const third = await open(proxy.port);
    third.socket.write('again');
    await waitFor(() => third.heard() === 'again', { what: 'an answer' });
    third.socket.destroy();
  });
});
