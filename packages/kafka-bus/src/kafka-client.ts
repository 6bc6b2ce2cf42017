import { connect, type Socket } from 'node:net';
import { Kafka, type LogEntry, logLevel, type RetryOptions } from 'kafkajs';
import { brokerAddresses } from './broker-addresses.ts';
import type { BusLogger, BusSettings } from './bus-settings.ts';
import { patchRequestQueueTimer } from './request-queue-timer.ts';

/** A kafkajs client with its sockets in our hands. */
export type KafkaClient = {
  kafka: Kafka;
  /** Connections that are up or coming up. */
  openSockets(): number;
  /** Ends every connection at once, whatever kafkajs waits for; its pending requests reject. */
  destroySockets(): void;
};

type KafkaClientOptions = BusSettings & {
  retry: RetryOptions;
  requestTimeoutMs: number;
  /** Called whenever the last open connection is gone. */
  onDisconnected?: () => void;
};

const CONNECT_TIMEOUT_MS = 2_000;
/** How soon partitions that were added to a topic are noticed. */
export const METADATA_MAX_AGE_MS = 60_000;

const KEEP_ALIVE_MS = 30_000;

export const createKafkaClient = (options: KafkaClientOptions): KafkaClient => {
  patchRequestQueueTimer();
  const { brokers, hostOf } = brokerAddresses(options.brokers);
  const sockets = new Set<Socket>();

  const openSocket = ({
    host,
    port,
    onConnect,
  }: {
    host: string;
    port: number;
    onConnect: () => void;
  }): Socket => {
    const socket = connect({
      host: hostOf(host),
      port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
    socket.once('connect', onConnect);
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) options.onDisconnected?.();
    });
    return socket;
  };

  const kafka = new Kafka({
    brokers,
    clientId: options.clientId,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: options.requestTimeoutMs,
    retry: options.retry,
    socketFactory: openSocket,
    logLevel: logLevel.INFO,
    logCreator: () => (entry) => logEntry(options.logger, entry),
  });

  return {
    kafka,
    openSockets: () => sockets.size,
    destroySockets: () => {
      for (const socket of sockets) socket.destroy(new Error('connection given up'));
    },
  };
};

/**
 * All of it at debug level: kafkajs reports every attempt of what the bus retries by itself. What matters, the bus
 * logs once when it begins and once when it is over.
 */
const logEntry = (logger: BusLogger, { namespace, log }: LogEntry): void => {
  const { message, timestamp: _timestamp, logger: _logger, ...bindings } = log;
  logger.debug({ kafka: namespace, ...bindings }, message);
};
