import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import type { LocalServer } from './local-server.ts';
import { LocalServerError } from './local-server-error.ts';
import { assertPortFree } from './ports.ts';
import { runCommand } from './run-command.ts';
import { whyNotAnswering } from './why-not-answering.ts';

export type ContainerSpec = {
  name: string;
  image: string;
  inside: number;
  port: number;
  address: string;
  environment: Record<string, string>;
  command: string[];
  /** Host file → path in the container, read-only. */
  files: Record<string, string>;
  /** Resolves when the server answers a real request, rejects while it does not. */
  answers: () => Promise<void>;
};

/** Publishes its port on the loopback address alone: these servers ask nobody for a password. */
class LoopbackContainer extends GenericContainer {
  readonly #bindings: Record<string, { HostIp: string; HostPort: string }[]>;

  constructor({ image, inside, port }: ContainerSpec) {
    super(image);
    this.#bindings = { [`${inside}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: String(port) }] };
  }

  protected override async beforeContainerCreated(): Promise<void> {
    this.hostConfig.PortBindings = this.#bindings;
  }
}

const docker = async (verb: string, container: StartedTestContainer): Promise<void> => {
  const { code, output } = await runCommand('docker', [verb, container.getId()]);
  if (code !== 0) throw new LocalServerError('DOCKER_FAILED', `docker ${verb}: ${output.trim()}`);
};

/** Docker refuses to end a paused container in some versions; to one that is not paused this says nothing. */
const resumeIfPaused = (container: StartedTestContainer): Promise<void> =>
  docker('unpause', container).catch(() => undefined);

/** A server in a container on a fixed port of the loopback address. */
export const startContainer = async (spec: ContainerSpec): Promise<LocalServer> => {
  const container = await new LoopbackContainer(spec)
    .withExposedPorts({ container: spec.inside, host: spec.port })
    .withEnvironment(spec.environment)
    .withCommand(spec.command)
    .withBindMounts(
      Object.entries(spec.files).map(([source, target]) => ({ source, target, mode: 'ro' as const })),
    )
    // What it logs differs from image to image; whether it works is asked below.
    .withWaitStrategy(Wait.forListeningPorts())
    .start();
  const untilAnswers = async (): Promise<void> => {
    const why = await whyNotAnswering(spec.answers);
    if (why !== undefined) throw new LocalServerError('DID_NOT_START', `${spec.name} did not start: ${why}`);
  };
  const end = async (verb: 'stop' | 'kill'): Promise<void> => {
    await resumeIfPaused(container);
    await docker(verb, container);
  };
  const remove = async (): Promise<void> => {
    await resumeIfPaused(container);
    await container.stop();
  };
  await untilAnswers().catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return {
    address: spec.address,
    port: spec.port,
    kind: 'docker',
    // A stopped container is kept until disposal, so that it can be started again with its data.
    stop: () => end('stop'),
    kill: () => end('kill'),
    restart: async (until) => {
      await end('stop');
      await assertPortFree(spec.port, spec.name);
      await docker('start', container);
      if (until !== 'running') await untilAnswers();
    },
    pause: () => docker('pause', container),
    resume: () => docker('unpause', container),
    [Symbol.asyncDispose]: remove,
  };
};
