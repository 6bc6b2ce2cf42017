import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const FIXTURE = fileURLToPath(new URL('./fixtures/service.ts', import.meta.url));

type LogLine = { level: string; msg: string; address?: string; exitCode?: number; err?: { message: string } };

/** Starts the fixture as a process of its own and reads its log; killed with the test if it is still there. */
const startFixture = (env: Record<string, string> = {}, args: string[] = []) => {
  const child = spawn(process.execPath, [FIXTURE, ...args], {
    env: { PATH: process.env['PATH'], ADCAP_SAMPLE_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines: LogLine[] = [];
  const texts: string[] = [];
  let errors = '';
  const waiting = new Map<string, (line: LogLine) => void>();
  createInterface({ input: child.stdout }).on('line', (text) => {
    texts.push(text);
    if (!text.startsWith('{')) return;
    const line: LogLine = JSON.parse(text);
    lines.push(line);
    waiting.get(line.msg)?.(line);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    errors += String(chunk);
  });

  const until = async (msg: string): Promise<LogLine> => {
    const known = lines.find((line) => line.msg === msg);
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<LogLine>();
    waiting.set(msg, resolve);
    return promise;
  };
  // 'close', not 'exit': by then all that it wrote has been read.
  const closed = once(child, 'close');
  const exit = async () => {
    const [code]: unknown[] = await closed;
    return { code, messages: lines.map(({ msg }) => msg), lines, output: texts.join('\n'), errors };
  };
  return { kill: (signal: NodeJS.Signals) => child.kill(signal), until, exit };
};

test.for(['SIGTERM', 'SIGINT'] as const)('%s closes in reverse order and exits 0', async (signal) => {
  const service = startFixture();
  const { address = '' } = await service.until('listening');
  await service.until('ready');
  expect((await fetch(new URL('/readyz', address))).status).toBe(200);
  service.kill(signal);
  const { code, messages } = await service.exit();
  expect(code).toBe(0);
  expect(messages.slice(-4)).toEqual(['stopping', 'server closed', 'store closed', 'stopped']);
});

test('a failed start is logged, unwound and exits 1', async () => {
  const { code, lines, messages } = await startFixture({ FIXTURE_FAULT: 'start-fails' }).exit();
  expect(code).toBe(1);
  expect(messages).toEqual(['start failed', 'store closed', 'stopped']);
  expect(lines[0]).toMatchObject({ level: 'fatal', err: { message: 'no such store' } });
});

test('a taken port fails the start with one clear line', async () => {
  const holder = startFixture();
  const { address = '' } = await holder.until('listening');
  const { port } = new URL(address);
  const { code, lines } = await startFixture({ ADCAP_SAMPLE_PORT: port }).exit();
  expect(code).toBe(1);
  expect(lines.find(({ level }) => level === 'fatal')?.err?.message).toContain(
    `cannot listen on 127.0.0.1:${port}: the port is already in use`,
  );
});

test('a stop that takes longer than the drain deadline exits 1', async () => {
  const service = startFixture({ FIXTURE_FAULT: 'hang-on-close', FIXTURE_DRAIN_MS: '100' });
  await service.until('ready');
  service.kill('SIGTERM');
  const { code, messages } = await service.exit();
  expect(code).toBe(1);
  expect(messages.slice(-3)).toEqual(['store closed', 'could not stop in time', 'stopped']);
});

test('a part that fails to close is logged and exits 1, after the others were closed', async () => {
  const service = startFixture({ FIXTURE_FAULT: 'close-fails' });
  await service.until('ready');
  service.kill('SIGTERM');
  const { code, messages } = await service.exit();
  expect(code).toBe(1);
  expect(messages).toContain('server closed');
  expect(messages.slice(-2)).toEqual(['could not stop cleanly', 'stopped']);
});

test('the same signal twice exits at once', async () => {
  const service = startFixture({ FIXTURE_FAULT: 'hang-on-close' });
  await service.until('ready');
  service.kill('SIGTERM');
  await service.until('store closed');
  service.kill('SIGTERM');
  const { code, messages } = await service.exit();
  expect(code).toBe(1);
  expect(messages.at(-1)).toBe('second signal, exiting at once');
});

test('SIGINT from the terminal and SIGTERM from the launcher are one stop', async () => {
  const service = startFixture();
  await service.until('ready');
  service.kill('SIGINT');
  service.kill('SIGTERM');
  const { code, messages } = await service.exit();
  expect(code).toBe(0);
  expect(messages.at(-1)).toBe('stopped');
});

test('a signal in the middle of the start stops it and exits 0', async () => {
  const service = startFixture({ FIXTURE_FAULT: 'wait-for-signal' });
  await service.until('waiting');
  service.kill('SIGTERM');
  const { code, messages } = await service.exit();
  expect(code).toBe(0);
  expect(messages).toEqual(['waiting', 'stopping', 'store closed', 'stopped']);
});

test('fail stops in order and exits 1', async () => {
  const service = startFixture();
  const { address = '' } = await service.until('listening');
  await fetch(new URL('/faults/fail', address), { method: 'POST' });
  const { code, lines, messages } = await service.exit();
  expect(code).toBe(1);
  expect(messages.slice(-4)).toEqual(['service failed', 'server closed', 'store closed', 'stopped']);
  expect(lines.find(({ level }) => level === 'fatal')?.err?.message).toBe('the consumer crashed');
});

const unforeseen = [
  { path: '/faults/reject', msg: 'unhandled rejection', cause: 'nobody waits for this' },
  { path: '/faults/throw', msg: 'uncaught exception', cause: 'nobody catches this' },
];
test.for(unforeseen)('an $msg is fatal and exits 1 at once', async ({ path, msg, cause }) => {
  const service = startFixture();
  const { address = '' } = await service.until('listening');
  await fetch(new URL(path, address), { method: 'POST' }).catch(() => undefined);
  const { code, lines } = await service.exit();
  expect(code).toBe(1);
  expect(lines.at(-1)).toMatchObject({ level: 'fatal', msg, err: { message: cause } });
});

test('wrong settings are told on standard error, all at once, and nothing starts', async () => {
  const { code, errors, output } = await startFixture({
    ADCAP_SAMPLE_PORT: 'x',
    ADCAP_SAMPLE_PROT: '1',
  }).exit();
  expect(code).toBe(1);
  expect(output).toBe('');
  expect(errors).toBe(
    'sample: ADCAP_SAMPLE_PROT: is not a setting of this suite; did you mean ADCAP_SAMPLE_PORT?\n' +
      'sample: ADCAP_SAMPLE_PORT: expected number, received NaN\n',
  );
});

test('--check-config judges the settings and starts nothing', async () => {
  const sound = await startFixture({ ADCAP_SHARED: 'x' }, ['--check-config']).exit();
  expect(sound).toMatchObject({ code: 0, output: 'sample: the settings are valid', errors: '' });
  const wrong = await startFixture({ ADCAP_SAMPLE_PORT: '' }, ['--check-config']).exit();
  expect(wrong).toMatchObject({ code: 1, output: '' });
  expect(wrong.errors).toBe('sample: ADCAP_SAMPLE_PORT: is required and not set\n');
});

test('--print-config says what the settings are, whatever they are set to', async () => {
  const { code, output } = await startFixture({ ADCAP_SAMPLE_PORT: 'x' }, ['--print-config']).exit();
  expect(code).toBe(0);
  expect(JSON.parse(output)).toEqual([
    { name: 'ADCAP_SAMPLE_PORT', type: 'integer 0..65535', required: true, description: 'Port' },
  ]);
});

test('an unknown argument is refused', async () => {
  const { code, errors } = await startFixture({}, ['--chekc-config']).exit();
  expect(code).toBe(1);
  expect(errors).toContain('--chekc-config: is not an argument');
});
