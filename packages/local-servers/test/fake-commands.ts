import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test as base, vi } from 'vitest';

/** A machine that has only the commands of a table, each a shell script, and nothing downloaded yet. */
export type BareMachine = {
  cacheDir: string;
  dataDir: string;
  install(commands: Readonly<Record<string, string>>): Promise<void>;
};

export const test = base.extend<{ machine: BareMachine }>({
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the fixture's dependencies from this pattern
  machine: async ({}, use) => {
    const root = await mkdtemp(path.join(tmpdir(), 'adcap-bare-'));
    const bin = path.join(root, 'bin');
    const [cacheDir, dataDir] = [path.join(root, 'cache'), path.join(root, 'data')];
    await mkdir(bin);
    vi.stubEnv('PATH', bin);
    await use({
      cacheDir,
      dataDir,
      install: async (commands) => {
        for (const [name, script] of Object.entries(commands)) {
          await writeFile(path.join(bin, name), `#!/bin/sh\n${script}\n`);
          await chmod(path.join(bin, name), 0o755);
        }
      },
    });
    vi.unstubAllEnvs();
    await rm(root, { recursive: true, force: true });
  },
});
