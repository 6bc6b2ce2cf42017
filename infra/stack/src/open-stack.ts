import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  assertPortFree,
  cacheFolder,
  createTopics,
  type LocalServer,
  loadTopics,
  startKafka,
  startRedis,
} from '@adcap/local-servers';
import { say } from './say.ts';
import { ServiceProcess } from './service-process.ts';
import { portOf, SERVICES, urlOf } from './services.ts';
import { makeTokens, ROLES, type Tokens } from './tokens.ts';
import { waitUntilReady } from './wait-until-ready.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const SAMPLE_RULES = path.join(ROOT, 'infra/rules/sample.yaml');

/** The running suite. */
export type Stack = AsyncDisposable & {
  tokens: Tokens;
  env: NodeJS.ProcessEnv;
  redis: LocalServer;
  kafka: LocalServer;
  /** Rejects when a part cannot be kept running. */
  failed: Promise<never>;
};

const started = async (what: string, start: () => Promise<LocalServer>): Promise<LocalServer> => {
  const from = performance.now();
  const server = await start();
  say(
    `${what} is up at ${server.address} (${server.kind}, ${((performance.now() - from) / 1_000).toFixed(1)} s)`,
  );
  return server;
};

const environment = (of: {
  redis: LocalServer;
  kafka: LocalServer;
  tokens: Tokens;
  env: NodeJS.ProcessEnv;
}): NodeJS.ProcessEnv => ({
  ...of.env,
  REDIS_URL: of.redis.address,
  KAFKA_BROKERS: of.kafka.address,
  ADCAP_TOKEN_VIEWER: of.tokens.viewer,
  ADCAP_TOKEN_EDITOR: of.tokens.editor,
  ADCAP_TOKEN_OPERATOR: of.tokens.operator,
  ADCAP_RESERVATION_KEYS:
    of.env['ADCAP_RESERVATION_KEYS'] ?? `local:${randomBytes(24).toString('base64url')}`,
  ADCAP_RULES_FILE: of.env['ADCAP_RULES_FILE'] ?? SAMPLE_RULES,
});

/**
 * Brings up Redis, Kafka, the topics and every service; resolves when all are ready. Data lives in a temporary folder and goes with
 * the stack. A failed start leaves nothing running.
 */
export const openStack = async (
  signal: AbortSignal,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Stack> => {
  const stack = new AsyncDisposableStack();
  try {
    for (const spec of SERVICES) {
      // oxlint-disable-next-line no-await-in-loop -- the first taken port is the one to name
      await assertPortFree(portOf(spec, env), `${spec.name} with ${spec.portVariable}`);
    }
    const dataDir = await mkdtemp(path.join(tmpdir(), 'adcap-stack-'));
    stack.defer(() => rm(dataDir, { recursive: true, force: true }));
    const logDir = path.join(ROOT, '.adcap/logs');
    await mkdir(logDir, { recursive: true });

    const options = { cacheDir: cacheFolder(), dataDir, onProgress: say };
    const [redis, kafka] = await Promise.all([
      started('Redis', () => startRedis(options)).then((server) => stack.use(server)),
      started('Kafka', () => startKafka(options)).then((server) => stack.use(server)),
    ]);
    signal.throwIfAborted();
    await createTopics(kafka.address, await loadTopics(), { partitions: 6 });

    const tokens = makeTokens(env);
    const serviceEnv = environment({ redis, kafka, tokens, env });
    const processes = SERVICES.map(({ name }) => new ServiceProcess(name, { env: serviceEnv, logDir }));
    stack.defer(async () => void (await Promise.all(processes.map((service) => service.stop()))));
    for (const service of processes) service.start();
    const failed = Promise.race(processes.map((service) => service.failed));
    failed.catch(() => undefined);
    say(`starting ${SERVICES.length} services (logs: ${path.relative(process.cwd(), logDir) || '.'})`);
    await Promise.race([
      failed,
      Promise.all(SERVICES.map(({ name }) => waitUntilReady(name, urlOf(name, env), signal))),
    ]);
    signal.throwIfAborted();
    const opened = stack.move();
    return {
      tokens,
      env: serviceEnv,
      redis,
      kafka,
      failed,
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
};

/** What a person needs to use the stack: tokens, addresses, and that it is ready. */
export const announce = ({ tokens, env }: Stack): void => {
  for (const role of ROLES) say(`${role} token ${tokens[role]}`);
  for (const { name } of SERVICES) say(`${name.padEnd(12)} ${urlOf(name, env)}/documentation`);
  say('ready');
};
