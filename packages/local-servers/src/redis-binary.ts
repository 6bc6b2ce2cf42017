import { chmod, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { unzipSync } from 'fflate';
import { LocalServerError } from './local-server-error.ts';
import { mavenArtifacts } from './maven-artifacts.ts';
import { lastLine, runCommand } from './run-command.ts';

const POM = path.resolve(import.meta.dirname, '../../../infra/redis/pom.xml');

/** The entries of the jar by platform and architecture, as Node names them. */
const ENTRIES: Readonly<Record<string, string>> = {
  'linux-x64': 'redis-server-6.2.6-v5-linux-amd64',
  'linux-arm64': 'redis-server-6.2.7-linux-arm64',
  'darwin-x64': 'redis-server-6.2.6-v5-darwin-amd64',
  'darwin-arm64': 'redis-server-6.2.6-v5-darwin-arm64',
};

/** Older ones lack commands that the suite needs. */
const OLDEST = 602;

const works = async (binary: string): Promise<boolean> => {
  const { code, output } = await runCommand(binary, ['--version']);
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(output) ?? [];
  return code === 0 && Number(major) * 100 + Number(minor) >= OLDEST;
};

const extract = async (jars: string, target: string): Promise<void> => {
  const platform = `${process.platform}-${process.arch}`;
  const entry = ENTRIES[platform];
  const jar = (await readdir(jars)).find((file) => file.startsWith('embedded-redis'));
  const files =
    jar === undefined
      ? {}
      : unzipSync(await readFile(path.join(jars, jar)), { filter: ({ name }) => name === entry });
  const bytes = entry === undefined ? undefined : files[entry];
  if (bytes === undefined) {
    throw new LocalServerError(
      'NO_BINARY',
      `no Redis binary for ${platform}: install redis-server 6.2 or newer, or start Docker`,
    );
  }
  await mkdir(path.dirname(target), { recursive: true });
  const partial = `${target}.${process.pid}`;
  await writeFile(partial, bytes);
  await chmod(partial, 0o755);
  await rename(partial, target);
};

/** `redis-server` on the PATH where it is 6.2 or newer, else the binary out of a Maven artifact, kept in the cache. */
export const redisBinary = async (cacheDir: string, onProgress: (line: string) => void): Promise<string> => {
  if (await works('redis-server')) return 'redis-server';
  const target = path.join(cacheDir, 'redis', 'redis-server');
  if (await works(target)) return target;
  await extract(await mavenArtifacts(POM, path.join(cacheDir, 'redis-jars'), onProgress), target);
  const { code, output } = await runCommand(target, ['--version']);
  if (code === 0) return target;
  throw new LocalServerError(
    'NO_BINARY',
    `the Redis binary does not run here (${lastLine(output)}): install redis-server, or start Docker`,
  );
};
