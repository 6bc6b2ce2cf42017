import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@adcap/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { ServiceProcess } from '../src/service-process.ts';

const MAIN = fileURLToPath(new URL('./fixtures/service.ts', import.meta.url));
const PARENT = fileURLToPath(new URL('./fixtures/parent.ts', import.meta.url));

const aFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'adcap-service-process-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const aService = (fault?: string) => {
  const logDir = aFolder();
  const notes = path.join(logDir, 'notes');
  const env = {
    ...process.env,
    FIXTURE_NOTES: notes,
    ...(fault === undefined ? {} : { FIXTURE_FAULT: fault }),
  };
  const service = new ServiceProcess('fixture', { env, logDir, main: MAIN });
  onTestFinished(() => service.stop());
  return {
    service,
    env,
    logDir,
    starts: () => readNotes(notes).filter((line) => line.startsWith('started')),
    notes,
  };
};

const readNotes = (file: string): string[] => {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n');
  } catch {
    return [];
  }
};

const pidOf = (line = ''): number => Number(line.split(' ')[1]);
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a stop is orderly and starts nothing again', async () => {
  const { service, starts, notes } = aService();
  service.start();
  await waitFor(() => starts().length === 1, { what: 'a start' });
  service.markReady();
  await service.stop();
  expect(readNotes(notes).at(-1)).toBe('stopped');
  expect(starts()).toHaveLength(1);
  expect(isAlive(pidOf(starts()[0]))).toBe(false);
});

test('an end before it was ready is a failed start, told with its reason', async () => {
  const { service, starts, logDir } = aService('dies');
  service.start();
  await expect(service.failed).rejects.toThrow(
    `fixture ended with code 1 (no such store) before it was ready; its log is ${logDir}/fixture.log`,
  );
  expect(starts()).toHaveLength(1);
});

test('a service that crashes is started again', async () => {
  const { service, starts } = aService();
  service.start();
  await waitFor(() => starts().length === 1, { what: 'a start' });
  service.markReady();
  process.kill(pidOf(starts()[0]), 'SIGKILL');
  await waitFor(() => starts().length === 2, { what: 'a second start' });
  expect(isAlive(pidOf(starts()[1]))).toBe(true);
});

test('a service whose stack was killed stops by itself', async () => {
  const { env, logDir, starts, notes } = aService();
  const parent = spawn(process.execPath, [PARENT, MAIN, logDir], { env, stdio: 'ignore' });
  await waitFor(() => starts().length === 1, { what: 'a start' });
  parent.kill('SIGKILL');
  await waitFor(() => !isAlive(pidOf(starts()[0])), { what: 'the end of the service' });
  expect(readNotes(notes).at(-1)).toBe('stopped');
});
