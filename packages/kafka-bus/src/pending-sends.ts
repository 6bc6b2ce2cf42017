import { BusOverloaded, BusUnavailable } from './bus-errors.ts';
import { type BusMessage, messageBytes } from './bus-message.ts';

/** A part of one caller's messages that fits into one request. */
export type Chunk = { messages: readonly BusMessage[]; bytes: number; readonly send: PendingSend };

export type PendingLimits = { maxMessages: number; maxBytes: number };

/** One call of `send`: settles once, whatever its chunks do later. */
export class PendingSend {
  readonly promise: Promise<void>;
  readonly chunks: readonly Chunk[];
  isSettled = false;
  #left: number;
  #settle: (error: Error | undefined) => void = () => {};

  constructor(messages: readonly BusMessage[], maxChunkBytes: number) {
    this.promise = new Promise((resolve, reject) => {
      this.#settle = (error) => {
        if (error === undefined) resolve();
        else reject(error);
      };
    });
    this.chunks = cut(messages, maxChunkBytes).map((chunk) => ({ ...chunk, send: this }));
    this.#left = this.chunks.length;
  }

  chunkAcknowledged(): void {
    this.#left -= 1;
    if (this.#left === 0) this.settle();
  }

  settle(error?: Error): void {
    if (this.isSettled) return;
    this.isSettled = true;
    // The queue may hold the chunks until its next look; their messages go now.
    for (const chunk of this.chunks) chunk.messages = [];
    this.#settle(error);
  }
}

/** What callers wait for, of all topics: bounded, and each with its deadline. */
export class PendingSends {
  readonly #limits: PendingLimits;
  readonly #timeoutMs: number;
  readonly #sends = new Set<PendingSend>();
  #messages = 0;
  #bytes = 0;

  constructor(limits: PendingLimits, timeoutMs: number) {
    this.#limits = limits;
    this.#timeoutMs = timeoutMs;
  }

  get messages(): number {
    return this.#messages;
  }

  /** Takes the messages in, or throws BusOverloaded. `reason` is asked when the deadline passes. */
  add(messages: readonly BusMessage[], maxChunkBytes: number, reason: () => unknown): PendingSend {
    const send = new PendingSend(messages, maxChunkBytes);
    const bytes = send.chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
    if (
      this.#messages + messages.length > this.#limits.maxMessages ||
      this.#bytes + bytes > this.#limits.maxBytes
    ) {
      throw new BusOverloaded('Too many messages wait for the event stream');
    }
    this.#messages += messages.length;
    this.#bytes += bytes;
    this.#sends.add(send);
    const timer = setTimeout(() => {
      send.settle(new BusUnavailable('The event stream did not acknowledge in time', reason()));
    }, this.#timeoutMs);
    const release = (): void => {
      clearTimeout(timer);
      this.#messages -= messages.length;
      this.#bytes -= bytes;
      this.#sends.delete(send);
    };
    send.promise.then(release, release);
    return send;
  }

  /** Resolves when every send that is pending now has settled. */
  async drained(): Promise<void> {
    await Promise.allSettled([...this.#sends].map((send) => send.promise));
  }
}

const cut = (messages: readonly BusMessage[], maxBytes: number): Omit<Chunk, 'send'>[] => {
  const chunks: { messages: BusMessage[]; bytes: number }[] = [];
  for (const message of messages) {
    const bytes = messageBytes(message);
    const last = chunks.at(-1);
    if (last !== undefined && last.bytes + bytes <= maxBytes) {
      last.messages.push(message);
      last.bytes += bytes;
    } else {
      chunks.push({ messages: [message], bytes });
    }
  }
  return chunks;
};
