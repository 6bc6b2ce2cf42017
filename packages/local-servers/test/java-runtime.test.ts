import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

const main = `import { startKafka } from ${JSON.stringify(path.resolve(import.meta.dirname, '../src/index.ts'))};
await startKafka({ cacheDir: '/nonexistent', dataDir: '/nonexistent', mode: 'native' }).catch((error) => console.log(error.code, error.message));`;

test('a machine without Java is told what to install', () => {
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', main], {
    env: { PATH: '/nonexistent' },
    encoding: 'utf8',
  });
  expect(stdout.trim()).toBe(
    'JAVA_MISSING java is not on the PATH: install Java 17 or newer, or start Docker',
  );
});
