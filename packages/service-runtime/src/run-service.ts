import type { Registry } from 'prom-client';
import { type Clock, systemClock } from './clock.ts';
import { describeConfig } from './describe-config.ts';
import { createHealth, type Health } from './health.ts';
import { ConfigError, type ConfigSchema } from './load-config.ts';
import { createLogger, type Logger } from './logger.ts';
import { createMetricsRegistry } from './metrics-registry.ts';

export type ServiceOptions<Config> = {
  name: string;
  /** What the settings are, for `--print-config`. */
  schema: ConfigSchema;
  /** Reads the settings, usually `() => loadConfig(schema, process.env, …)`. */
  config: () => Config;
  logger?: (config: Config) => Logger;
  drainDeadlineMs?: number;
};

export type ServiceContext<Config> = {
  config: Config;
  logger: Logger;
  clock: Clock;
  registry: Registry;
  health: Health;
  /** Aborted when the process begins to stop, also in the middle of its start. */
  signal: AbortSignal;
  /** Stops the process in order with exit code 1, so that its supervisor starts it again. */
  fail: (error: unknown) => void;
};

/** Opens what the service needs, in order, each thing handed to the stack; resolves when it is ready. */
export type ServiceStart<Config> = (
  stack: AsyncDisposableStack,
  context: ServiceContext<Config>,
) => Promise<void>;

type ExitCode = 0 | 1;

/** Under the 30 s (or, in compose, 10 s by default) after which supervisors kill. */
const DRAIN_DEADLINE_MS = 10_000;
const CHECK_CONFIG = '--check-config';
const PRINT_CONFIG = '--print-config';
const ARGUMENTS = [CHECK_CONFIG, PRINT_CONFIG];

/** What is wrong with the command line and the settings, or the settings. */
const readConfig = <Config>(config: () => Config, args: readonly string[]): Config | ConfigError => {
  const unknown = args.find((argument) => !ARGUMENTS.includes(argument));
  if (unknown !== undefined) {
    return new ConfigError([
      { name: unknown, message: `is not an argument; there are ${ARGUMENTS.join(' and ')}` },
    ]);
  }
  try {
    return config();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
};

/** There is no logger before there are settings: lines for the person at the terminal. */
const readConfigOrExit = <Config>({ name, schema, config }: ServiceOptions<Config>): Config => {
  const args = process.argv.slice(2);
  if (args.includes(PRINT_CONFIG)) {
    process.stdout.write(`${JSON.stringify(describeConfig(schema), null, 2)}\n`);
    return process.exit(0);
  }
  const settings = readConfig(config, args);
  if (settings instanceof ConfigError) {
    for (const line of settings.message.split('\n')) process.stderr.write(`${name}: ${line}\n`);
    return process.exit(1);
  }
  if (args.includes(CHECK_CONFIG)) {
    process.stdout.write(`${name}: the settings are valid\n`);
    return process.exit(0);
  }
  return settings;
};

/**
 * The same signal twice means "now". SIGINT then SIGTERM does not: on Ctrl-C a terminal signals the whole group, and
 * whoever started this process passes the stop on by its own means.
 */
const onStopSignals = (logger: Logger, stop: (exitCode: ExitCode) => void): void => {
  const seen = new Set<NodeJS.Signals>();
  const handle = (signal: NodeJS.Signals): void => {
    if (seen.has(signal)) {
      logger.fatal({ signal }, 'second signal, exiting at once');
      process.exit(1);
    }
    seen.add(signal);
    logger.info({ signal }, 'stopping');
    stop(0);
  };
  process.on('SIGTERM', handle);
  process.on('SIGINT', handle);
};

/** After either of these nothing in memory can be trusted, so there is no drain: what is unacknowledged comes again. */
const onUnforeseen = (logger: Logger): void => {
  const exit = (message: string) => (err: unknown) => {
    logger.fatal({ err }, message);
    process.exit(1);
  };
  process.on('uncaughtException', exit('uncaught exception'));
  process.on('unhandledRejection', exit('unhandled rejection'));
};

const closeInTime = async (
  stack: AsyncDisposableStack,
  deadlineMs: number,
  logger: Logger,
): Promise<ExitCode> => {
  const late = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => late.resolve('late'), deadlineMs);
  try {
    const outcome = await Promise.race([stack.disposeAsync(), late.promise]);
    if (outcome === 'late') logger.fatal({ deadlineMs }, 'could not stop in time');
    return outcome === 'late' ? 1 : 0;
  } catch (err) {
    logger.error({ err }, 'could not stop cleanly');
    return 1;
  } finally {
    clearTimeout(timer);
  }
};

/** Runs the start; one that was told to stop meanwhile fails as a matter of course. */
const startUp = async (
  run: () => Promise<void>,
  { health, logger, signal }: Pick<ServiceContext<unknown>, 'health' | 'logger' | 'signal'>,
) => {
  try {
    await run();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (signal.aborted) return;
  health.markReady();
  logger.info('ready');
};

/**
 * Runs a process from start to exit: opens in order, closes in reverse on SIGTERM, SIGINT, `fail` or a failed start,
 * within a deadline. Exits 0 after a clean stop and 1 otherwise. With `--check-config` it only
 * judges the settings; with `--print-config` it only prints what they are, as JSON.
 */
export const runService = async <Config>(
  options: ServiceOptions<Config>,
  start: ServiceStart<Config>,
): Promise<never> => {
  const config = readConfigOrExit(options);
  const logger = options.logger?.(config) ?? createLogger({ name: options.name, level: 'info' });
  const health = createHealth();
  const stopping = new AbortController();
  const stopped = Promise.withResolvers<ExitCode>();
  onStopSignals(logger, stopped.resolve);
  onUnforeseen(logger);

  const stack = new AsyncDisposableStack();
  const failWith = (message: string) => (err: unknown) => {
    logger.fatal({ err }, message);
    stopped.resolve(1);
  };
  const context: ServiceContext<Config> = {
    config,
    logger,
    clock: systemClock,
    registry: createMetricsRegistry(),
    health,
    signal: stopping.signal,
    fail: failWith('service failed'),
  };
  startUp(async () => start(stack, context), context).catch(failWith('start failed'));

  const exitCode = await stopped.promise;
  health.markDraining();
  stopping.abort();
  const closeCode = await closeInTime(stack, options.drainDeadlineMs ?? DRAIN_DEADLINE_MS, logger);
  const finalCode = exitCode === 0 ? closeCode : exitCode;
  logger.info({ exitCode: finalCode }, 'stopped');
  return process.exit(finalCode);
};
