/** The part of a pino logger that the bus uses. */
export type BusLogger = {
  debug(bindings: object, message: string): void;
  info(bindings: object, message: string): void;
  warn(bindings: object, message: string): void;
  error(bindings: object, message: string): void;
};

/** Where the brokers are and who asks; shared by producers, consumers and followers of one process. */
export type BusSettings = {
  /** `host:port` each; an IPv6 address in brackets. */
  brokers: readonly string[];
  clientId: string;
  logger: BusLogger;
};

/** Time and chance as arguments; the defaults are the real ones. */
export type Clock = { now(): number };
export const systemClock: Clock = { now: () => Date.now() };
