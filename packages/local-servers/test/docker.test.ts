import { describe, expect } from 'vitest';
import { startEither } from '../src/docker.ts';
import type { LocalServer } from '../src/local-server.ts';
import { test } from './fake-commands.ts';

const nothing = async (): Promise<void> => undefined;
const server = (kind: LocalServer['kind']): LocalServer => ({
  address: '127.0.0.1:1',
  port: 1,
  kind,
  stop: nothing,
  kill: nothing,
  restart: nothing,
  pause: nothing,
  resume: nothing,
  [Symbol.asyncDispose]: nothing,
});
const native = async () => server('native');
const container = async () => server('docker');
const noImage = () => Promise.reject(new Error('no such image: redis:7-alpine\nat pull'));
const DAEMON_ANSWERS = { docker: 'echo some-id' };
const DAEMON_IS_AWAY = { docker: 'echo "Cannot connect to the Docker daemon"; exit 1' };

describe('Docker or native', () => {
  test.for([
    { name: 'no docker command', commands: {}, mode: 'auto', kind: 'native' },
    { name: 'no daemon', commands: DAEMON_IS_AWAY, mode: 'auto', kind: 'native' },
    { name: 'a daemon', commands: DAEMON_ANSWERS, mode: 'auto', kind: 'docker' },
    { name: 'a daemon, asked for native', commands: DAEMON_ANSWERS, mode: 'native', kind: 'native' },
    { name: 'asked for Docker', commands: {}, mode: 'docker', kind: 'docker' },
  ] as const)('$name: $kind', async ({ commands, mode, kind }, { machine }) => {
    await machine.install(commands);
    const started = await startEither({ mode }, { name: 'Redis', docker: container, native });
    expect(started.kind).toBe(kind);
  });

  test('an image that cannot be had is told in one line, and the native way is taken', async ({
    machine,
  }) => {
    await machine.install(DAEMON_ANSWERS);
    const lines: string[] = [];
    const started = await startEither(
      { onProgress: (line) => lines.push(line) },
      { name: 'Redis', docker: noImage, native },
    );
    expect(started.kind).toBe('native');
    expect(lines).toEqual(['Redis: no container (no such image: redis:7-alpine); starting it natively']);
  });

  test('who asked for Docker is not given another', async ({ machine }) => {
    await machine.install(DAEMON_ANSWERS);
    await expect(
      startEither({ mode: 'docker' }, { name: 'Redis', docker: noImage, native }),
    ).rejects.toMatchObject({
      code: 'DOCKER_FAILED',
      message:
        'Redis did not start in Docker (no such image: redis:7-alpine): start Docker, or use the mode "auto"',
    });
  });
});
