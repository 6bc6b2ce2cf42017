import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** Milliseconds that every byte takes more than the network itself. */
type Delay = { toServerMs: number; toClientMs: number };

type Traffic = { isHeld: boolean; delay: Delay };

/** A chunk, or the end of the stream. */
type Parcel = { bytes: Buffer | undefined; dueAt: number };

/** One direction of one connection: what comes in leaves in the same order, when it is due and nothing is held. */
class Lane {
  readonly #to: Socket;
  readonly #mayPass: () => boolean;
  readonly #delayMs: () => number;
  readonly #waiting: Parcel[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(to: Socket, of: { mayPass: () => boolean; delayMs: () => number }) {
    this.#to = to;
    this.#mayPass = of.mayPass;
    this.#delayMs = of.delayMs;
  }

  take(bytes: Buffer | undefined): void {
    this.#waiting.push({ bytes, dueAt: performance.now() + this.#delayMs() });
    this.pump();
  }

  pump(): void {
    clearTimeout(this.#timer);
    if (!this.#mayPass()) return;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const earlyMs = next.dueAt - performance.now();
      if (earlyMs > 0) {
        this.#timer = setTimeout(() => this.pump(), earlyMs);
        return;
      }
      this.#waiting.shift();
      if (next.bytes === undefined) this.#to.end();
      else this.#to.write(next.bytes);
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
  }
}

class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #lanes: readonly [Lane, Lane];

  constructor(client: Socket, serverPort: number, traffic: Traffic) {
    const server = createConnection({
      port: serverPort,
      host: '127.0.0.1',
      allowHalfOpen: true,
      noDelay: true,
    });
    this.#client = client;
    this.#server = server;
    const mayPass = (): boolean => !traffic.isHeld;
    const up = new Lane(server, { mayPass, delayMs: () => traffic.delay.toServerMs });
    const down = new Lane(client, { mayPass, delayMs: () => traffic.delay.toClientMs });
    this.#lanes = [up, down];
    client.setNoDelay(true);
    for (const [from, lane] of [
      [client, up],
      [server, down],
    ] as const) {
      from.on('data', (bytes) => lane.take(bytes));
      from.once('end', () => lane.take(undefined));
      // A reset cannot pass a network that drops packets either: the other side learns of it with the rest.
      from.on('error', () => (traffic.isHeld ? lane.take(undefined) : this.reset()));
    }
  }

  pump(): void {
    for (const lane of this.#lanes) lane.pump();
  }

  reset(): void {
    for (const lane of this.#lanes) lane.stop();
    this.#client.destroy();
    this.#server.destroy();
  }

  /** Resolves when neither side is open any more. */
  onGone(callback: () => void): void {
    let open = 2;
    for (const socket of [this.#client, this.#server])
      socket.once('close', () => {
        open -= 1;
        if (open === 0) callback();
      });
  }
}

/** A network between a client and a server on this machine that can be broken in every way but a wrong byte. */
export type FaultProxy = AsyncDisposable & {
  readonly port: number;
  /**
   * Drops every packet, as far as both sides can tell: nothing arrives and nothing is closed. As TCP does, what was sent is
   * delivered when packets pass again, also for a side that has given up meanwhile.
   */
  blackHole(): void;
  delay(delay: Delay): void;
  /** Breaks every connection; new ones pass. */
  reset(): void;
  /** Breaks every connection and refuses new ones. */
  refuse(): Promise<void>;
  /** Ends every fault. */
  pass(): Promise<void>;
  connections(): number;
};

const NO_DELAY: Delay = { toServerMs: 0, toClientMs: 0 };

const listenOn = async (server: Server, port: number): Promise<number> => {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
};

/** Stands before a server of this machine, on a free port. */
export const startFaultProxy = async (serverPort: number): Promise<FaultProxy> => {
  const traffic: Traffic = { isHeld: false, delay: NO_DELAY };
  const links = new Set<Link>();
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const link = new Link(client, serverPort, traffic);
    links.add(link);
    link.onGone(() => links.delete(link));
  });
  const port = await listenOn(listener, 0);

  const pumpAll = (): void => {
    for (const link of links) link.pump();
  };
  const resetAll = (): void => {
    for (const link of links) link.reset();
  };
  const refuse = async (): Promise<void> => {
    const closed = listener.listening ? once(listener, 'close') : undefined;
    listener.close();
    resetAll();
    await closed;
  };
  return {
    port,
    blackHole: () => {
      traffic.isHeld = true;
    },
    delay: (delay) => {
      traffic.delay = delay;
    },
    reset: resetAll,
    refuse,
    pass: async () => {
      traffic.isHeld = false;
      traffic.delay = NO_DELAY;
      if (!listener.listening) await listenOn(listener, port);
      pumpAll();
    },
    connections: () => links.size,
    [Symbol.asyncDispose]: refuse,
  };
};
