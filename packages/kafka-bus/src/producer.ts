import { BusUnavailable } from './bus-errors.ts';
import type { BusMessage } from './bus-message.ts';
import type { BusSettings } from './bus-settings.ts';
import { PendingSends } from './pending-sends.ts';
import { TopicSender } from './topic-sender.ts';

export type ProducerOptions = {
  bus: BusSettings;
  /** Connected from the start, so that the first send need not wait and health is known; others connect when used. */
  topics: readonly string[];
  /** A send that is not acknowledged by then rejects with BusUnavailable. */
  timeoutMs?: number;
  /** How much may wait for acknowledgement, of all topics; past it a send rejects with BusOverloaded at once. */
  maxPendingMessages?: number;
  maxPendingBytes?: number;
  /** Of one request; it must stay below the topic's `max.message.bytes`. */
  maxRequestBytes?: number;
  gzip?: boolean;
  /** How long a message may wait for others to go with it: fewer requests, for messages that nobody waits for. */
  lingerMs?: number;
  random?: () => number;
};

/** The one sender of a process. */
export type Producer = {
  /**
   * Resolves when all in-sync replicas have every message. Rejects with BusUnavailable, BusOverloaded or BusRefused;
   * some of the messages may have been written even so, and sending all of them again is safe.
   */
  send(topic: string, messages: readonly BusMessage[]): Promise<void>;
  /** Messages that wait for acknowledgement. */
  readonly pending: number;
  /** Whether every topic's last attempt worked and its connection is up. */
  isHealthy(): boolean;
  /** Takes nothing more, waits for what is pending (at most `timeoutMs`) and disconnects. */
  close(): Promise<void>;
};

const DEFAULTS = {
  timeoutMs: 5_000,
  maxPendingMessages: 50_000,
  maxPendingBytes: 64 * 1_048_576,
  // The brokers' default limit is 1,048,588 for a partition's share of a request; the rest is for framing.
  maxRequestBytes: 900_000,
  gzip: false,
  lingerMs: 0,
  random: Math.random,
} as const;

/** Connects in the background, for ever: brokers that are away at the start or later never end the process. */
export const createProducer = (options: ProducerOptions): Producer => {
  const settings = { ...DEFAULTS, ...options };
  const pending = new PendingSends(
    { maxMessages: settings.maxPendingMessages, maxBytes: settings.maxPendingBytes },
    settings.timeoutMs,
  );
  const senders = new Map<string, TopicSender>();
  let isClosed = false;

  const senderOf = (topic: string): TopicSender => {
    const existing = senders.get(topic);
    if (existing !== undefined) return existing;
    const { bus, maxRequestBytes, gzip, lingerMs, random, timeoutMs } = settings;
    const sender = new TopicSender({
      bus,
      topic,
      maxRequestBytes,
      gzip,
      lingerMs,
      random,
      attemptTimeoutMs: timeoutMs,
    });
    senders.set(topic, sender);
    return sender;
  };
  for (const topic of settings.topics) senderOf(topic);

  return {
    send: async (topic, messages) => {
      if (isClosed) throw new BusUnavailable('The producer is closed');
      if (messages.length === 0) return;
      const sender = senderOf(topic);
      const send = pending.add(messages, settings.maxRequestBytes, () => sender.lastError);
      sender.push(send.chunks);
      await send.promise;
    },
    get pending() {
      return pending.messages;
    },
    isHealthy: () => !isClosed && [...senders.values()].every((sender) => sender.isUp),
    close: async () => {
      isClosed = true;
      await pending.drained();
      await Promise.all([...senders.values()].map((sender) => sender.close()));
    },
  };
};
