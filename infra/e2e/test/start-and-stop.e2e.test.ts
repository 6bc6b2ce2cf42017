import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { freePort, waitFor } from '@adcap/testkit';
import { describe, expect, test } from 'vitest';
import { ownPorts } from './suite.ts';

const SCRIPT = path.resolve(import.meta.dirname, '../../stack/src/stack.ts');

const startStack = (env: NodeJS.ProcessEnv) => {
  const child = spawn(process.execPath, [SCRIPT], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { child, exited: once(child, 'exit'), output: () => output };
};

const isTaken = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(true));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(false)));
  });

describe('the stack', () => {
  test('comes up twice in a row, and ends with nothing left behind', async () => {
    const ports = await ownPorts();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const { child, exited, output } = startStack(ports);
      await waitFor(() => output().includes('adcap: ready\n'), { what: 'adcap: ready', timeoutMs: 90_000 });
      for (const role of ['viewer', 'editor', 'operator'])
        expect(output()).toMatch(new RegExp(`^adcap: ${role} token \\S+$`, 'm'));
      const servers = [...output().matchAll(/is up at (?:redis:\/\/)?127\.0\.0\.1:(\d+)/g)].map((match) =>
        Number(match[1]),
      );
      expect(servers).toHaveLength(2);
      child.kill(signal);
      expect(await exited).toEqual([0, null]);
      const all = [...servers, ...Object.values(ports).map(Number)];
      expect(await Promise.all(all.map(isTaken))).toEqual(all.map(() => false));
    }
  });

  test('a taken port is one line with what to do, and nothing is started', async () => {
    const port = await freePort();
    const squatter = createServer();
    await new Promise<void>((resolve) => {
      squatter.listen(port, '127.0.0.1', resolve);
    });
    const { exited, output } = startStack({ ...(await ownPorts()), ADCAP_BEACON_PORT: String(port) });
    expect(await exited).toEqual([1, null]);
    expect(output()).toBe(
      `adcap: port ${port} is taken: free it, or set another for beacon with ADCAP_BEACON_PORT\n`,
    );
    squatter.close();
  });

  test('a machine without Java is told so', async () => {
    const { exited, output } = startStack({ ...(await ownPorts()), PATH: '/nonexistent' });
    expect(await exited).toEqual([1, null]);
    expect(output()).toContain('install Java 17 or newer');
  });
});
