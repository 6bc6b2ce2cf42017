import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { LocalServerError } from './local-server-error.ts';
import { lastLine, runCommand } from './run-command.ts';

/** How often whoever waits for a download hears that it goes on. */
const STILL_THERE_MS = 10_000;
const DOWNLOAD_DEADLINE_MS = 600_000;

const isFilled = async (folder: string): Promise<boolean> => {
  try {
    return (await readdir(folder)).length > 0;
  } catch {
    return false;
  }
};

/** What a download that was killed left behind: anything older than a download may take. */
const sweepPartials = async (folder: string): Promise<void> => {
  const parent = path.dirname(folder);
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${path.basename(folder)}.partial-`)) continue;
    const partial = path.join(parent, name);
    const { mtimeMs } = await stat(partial);
    if (mtimeMs < Date.now() - 2 * DOWNLOAD_DEADLINE_MS) await rm(partial, { recursive: true, force: true });
  }
};

/** Maven's first error line says more than its last. */
const mavenComplaint = (output: string): string =>
  output.split('\n').find((line) => line.startsWith('[ERROR]')) ?? lastLine(output);

/**
 * The jars that a pom names, in a folder of the cache. They are copied beside it first and renamed into place at the end, so
 * that a broken download is never taken for a good one.
 */
export const mavenArtifacts = async (
  pom: string,
  folder: string,
  onProgress: (line: string) => void,
): Promise<string> => {
  if (await isFilled(folder)) return folder;
  await mkdir(path.dirname(folder), { recursive: true });
  await sweepPartials(folder);
  const partial = await mkdtemp(`${folder}.partial-`);
  onProgress(`downloading ${path.basename(folder)} (once; kept in ${path.dirname(folder)})`);
  const args = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${partial}`];
  const from = performance.now();
  const patience = setInterval(() => {
    const seconds = Math.round((performance.now() - from) / 1_000);
    onProgress(`still downloading ${path.basename(folder)} (${seconds} s)`);
  }, STILL_THERE_MS);
  const { code, output, missing } = await runCommand('mvn', args, {
    timeoutMs: DOWNLOAD_DEADLINE_MS,
  }).finally(() => clearInterval(patience));
  if (code !== 0) {
    await rm(partial, { recursive: true, force: true });
    throw missing
      ? new LocalServerError(
          'MAVEN_MISSING',
          'mvn is not on the PATH: install Maven 3.8 or newer, or start Docker',
        )
      : new LocalServerError(
          'DOWNLOAD_FAILED',
          `${path.basename(folder)} could not be downloaded; run the command again when the network is back: ${mavenComplaint(output)}`,
        );
  }
  await rename(partial, folder).catch(async (error: unknown) => {
    // Another process may have put the same folder there meanwhile.
    await rm(partial, { recursive: true, force: true });
    if (!(await isFilled(folder))) throw error;
  });
  return folder;
};
