import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, redisAnswers } from '@adcap/local-servers';
import { startOwnRedis, test, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { isListening, isRunning } from './left-behind.ts';

const occupy = async (port: number): Promise<AsyncDisposable> => {
  const squatter = createServer();
  squatter.listen(port, '127.0.0.1');
  await once(squatter, 'listening');
  return {
    [Symbol.asyncDispose]: async () => {
      squatter.close();
      await once(squatter, 'close');
    },
  };
};

describe('a Redis of one’s own', () => {
  test.for(['stop', 'kill'] as const)('keeps its data over %s and restart', async (end, { ownClient }) => {
    await using server = await startOwnRedis();
    const client = ownClient(server.address);
    await client.set('a', '1');
    await server[end]();
    expect(await isListening(server.port)).toBe(false);
    await server.restart();
    expect(await client.get('a')).toBe('1');
  });

  test('reads infra/redis/redis.conf', async ({ ownClient }) => {
    await using server = await startOwnRedis();
    const client = ownClient(server.address);
    const settings = ['maxmemory-policy', 'appendonly', 'zset-max-ziplist-entries', 'zset-max-ziplist-value'];
    const read = await Promise.all(settings.map((name) => client.config('GET', name)));
    expect(read).toEqual([
      ['maxmemory-policy', 'noeviction'],
      ['appendonly', 'yes'],
      ['zset-max-ziplist-entries', '1024'],
      ['zset-max-ziplist-value', '256'],
    ]);
  });

  test('restart of one that runs ends the first', async () => {
    await using server = await startOwnRedis();
    const first = server.pid;
    expect(isRunning(first)).toBe(server.kind === 'native');
    await server.restart();
    expect(isRunning(first)).toBe(false);
    await redisAnswers(server.address);
  });

  test('a paused server answers again once it is resumed', async ({ ownClient }) => {
    await using server = await startOwnRedis();
    const client = ownClient(server.address);
    await client.ping();
    await server.pause();
    let answered = false;
    const pong = client.ping().then(() => {
      answered = true;
    });
    await expect(waitFor(() => answered, { what: 'an answer', timeoutMs: 200 })).rejects.toThrow('an answer');
    await server.resume();
    await pong;
  });

  test('one that is disposed of while paused is gone', async () => {
    const server = await startOwnRedis();
    await server.pause();
    await server[Symbol.asyncDispose]();
    expect(await isListening(server.port)).toBe(false);
  });
});

describe('a taken port', () => {
  test('is refused by its number', async () => {
    const port = await freePort();
    await using _ = await occupy(port);
    await expect(startOwnRedis({ port })).rejects.toMatchObject({
      code: 'PORT_TAKEN',
      message: `port ${port} is taken: free it, or set another for Redis`,
    });
  });

  test('is refused at a restart too, whoever answers there', async () => {
    await using server = await startOwnRedis();
    await server.stop();
    await using _ = await startOwnRedis({ port: server.port });
    await expect(server.restart()).rejects.toMatchObject({ code: 'PORT_TAKEN' });
  });
});

describe('a starter that goes without stopping its server', () => {
  test.for(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('takes it along: %s', async (signal) => {
    await using dataDir = await mkdtempDisposable(path.join(tmpdir(), 'adcap-test-'));
    const script = fileURLToPath(import.meta.resolve('./start-and-wait.ts'));
    const starter = spawn(process.execPath, [script, dataDir.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line]: unknown[] = await once(starter.stdout, 'data');
    const port = Number(String(line));
    expect(await isListening(port)).toBe(true);
    starter.kill(signal);
    await waitFor(async () => !(await isListening(port)), { what: `port ${port} to be free` });
  });
});
