import type { LocalServer, ServerOptions } from './local-server.ts';
import { LocalServerError } from './local-server-error.ts';
import { runCommand } from './run-command.ts';

/** Whether a Docker daemon answers, quickly. */
const dockerAnswers = async (): Promise<boolean> =>
  (await runCommand('docker', ['info', '--format', '{{.ID}}'], { timeoutMs: 3_000 })).code === 0;

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';

/** Takes Docker where it answers and has the image, else the native way, saying which. */
export const startEither = async (
  { mode = 'auto', onProgress }: Pick<ServerOptions, 'mode' | 'onProgress'>,
  ways: { name: string; docker: () => Promise<LocalServer>; native: () => Promise<LocalServer> },
): Promise<LocalServer> => {
  if (mode === 'native' || (mode === 'auto' && !(await dockerAnswers()))) return ways.native();
  try {
    return await ways.docker();
  } catch (error) {
    if (mode === 'docker') {
      throw new LocalServerError(
        'DOCKER_FAILED',
        `${ways.name} did not start in Docker (${firstLine(error)}): start Docker, or use the mode "auto"`,
        error,
      );
    }
    onProgress?.(`${ways.name}: no container (${firstLine(error)}); starting it natively`);
    return ways.native();
  }
};
