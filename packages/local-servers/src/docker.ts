import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import type { LocalServer } from './local-server.ts';
import { runCommand } from './run-command.ts';

/** Whether a Docker daemon answers, quickly. */
export const dockerAnswers = async (): Promise<boolean> =>
  (await runCommand('docker', ['info', '--format', '{{.ID}}'], { timeoutMs: 3_000 })).code === 0;

export type ContainerSpec = {
  image: string;
  inside: number;
  port: number;
  environment: Record<string, string>;
  command: string[];
  /** Host file → path in the container, read-only. */
  files: Record<string, string>;
  readyLine: RegExp;
  scheme: string;
};

const docker = (verb: string, container: StartedTestContainer) => async (): Promise<void> => {
  const { code, output } = await runCommand('docker', [verb, container.getId()]);
  if (code !== 0) throw new Error(`docker ${verb}: ${output}`);
};

/** A server in a container on a fixed port of the loopback address. */
export const startContainer = async (spec: ContainerSpec): Promise<LocalServer> => {
  const container = await new GenericContainer(spec.image)
    .withExposedPorts({ container: spec.inside, host: spec.port })
    .withEnvironment(spec.environment)
    .withCommand(spec.command)
    .withBindMounts(
      Object.entries(spec.files).map(([source, target]) => ({ source, target, mode: 'ro' as const })),
    )
    .withWaitStrategy(Wait.forLogMessage(spec.readyLine))
    .start();
  const remove = async (): Promise<void> => void (await container.stop());
  return {
    address: `${spec.scheme}127.0.0.1:${spec.port}`,
    port: spec.port,
    kind: 'docker',
    // A stopped container is kept until disposal, so that it can be started again with its data.
    stop: docker('stop', container),
    kill: docker('kill', container),
    restart: docker('start', container),
    pause: docker('pause', container),
    resume: docker('unpause', container),
    [Symbol.asyncDispose]: remove,
  };
};

/** Takes Docker where it answers and has the image, else the native way, saying which. */
export const startEither = async (
  mode: 'auto' | 'native' | 'docker',
  ways: { name: string; docker: () => Promise<LocalServer>; native: () => Promise<LocalServer> },
  onProgress: (line: string) => void,
): Promise<LocalServer> => {
  if (mode === 'native' || (mode === 'auto' && !(await dockerAnswers()))) return ways.native();
  try {
    return await ways.docker();
  } catch (error) {
    if (mode === 'docker') throw error;
    onProgress(
      `${ways.name}: no container (${error instanceof Error ? error.message : String(error)}); starting it natively`,
    );
    return ways.native();
  }
};
