import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** The levels that a service may be set to; `silent` is for tests and tools. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const SECRET_PATHS = ['authorization', 'Authorization'].flatMap((header) => [
  header,
  `*.${header}`,
  `*.headers.${header}`,
]);

/**
 * Only what names the fault: clients hang the commands and payloads that failed on their errors, and those hold the
 * identities of viewers. The stack of pino's serializer already has the causes.
 */
const describeError = (error: Error): Record<string, unknown> => {
  const { type, message, stack } = pino.stdSerializers.err(error);
  const code = 'code' in error ? { code: error.code } : {};
  return { type, ...code, message, stack };
};

/** A logger of JSON lines on standard output (or `destination`), without the secrets that a careless binding may bring. */
export const createLogger = (
  options: { name: string; level: LogLevel },
  destination?: DestinationStream,
): Logger => {
  const settings = {
    name: options.name,
    level: options.level,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (value: unknown) => (value instanceof Error ? describeError(value) : value) },
    redact: { paths: SECRET_PATHS, censor: '[redacted]' },
  };
  // Written before the call returns: the last lines of a process that exits are those that say why.
  return pino(settings, destination ?? pino.destination({ dest: 1, sync: true }));
};
