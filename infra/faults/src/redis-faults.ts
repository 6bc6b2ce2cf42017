import { writeFile } from 'node:fs/promises';
import type { LocalServer } from '@adcap/local-servers';
import { type FaultProxy, type RedisControl, waitFor } from '@adcap/testkit/servers';

/** What a fault has its hands on. */
export type Hands = {
  redis: LocalServer;
  /** The only way from the service to Redis. */
  proxy: FaultProxy;
  /** Goes past the proxy. */
  control: RedisControl;
  /** Settings that Redis reads at its start. */
  startFile: string;
};

export type Fault = {
  name: string;
  /** `store`: nothing can be read. `writes`: decisions may be exact, and nothing can be reserved. */
  hides: 'store' | 'writes';
  /** What must be there before the load begins. */
  prepare?: (hands: Hands, seconds: number) => Promise<void>;
  /** Resolves when the fault is there. */
  begin: (hands: Hands) => Promise<void>;
  /** Resolves when Redis itself works again. */
  end: (hands: Hands) => Promise<void>;
};

const answersPing = ({ control }: Hands): Promise<string> =>
  control.run('PING').then(String, (error: unknown) => String(error));

const untilPing = async (
  hands: Hands,
  pattern: RegExp,
  of: { what: string; timeoutMs?: number },
): Promise<void> => {
  await waitFor(async () => pattern.test(await answersPing(hands)), of);
};

/** Redis looks at its sockets once in about a thousand of these, so it refuses quickly and reads its file slowly. */
const LOAD_DELAY_MICROSECONDS = 200;
const COMMANDS_AT_ONCE = 5_000;
const FILL = `for i = 1, ${COMMANDS_AT_ONCE} do redis.call('INCR', KEYS[1]) end`;
/** Sleeps are longer than they are told to be, most of all on a busy machine. */
const LONGEST_LOAD_MS = 600_000;

/** It ends by itself, some time after it was asked to: a Redis that loads takes no other settings. */
const loading: Fault = {
  name: 'loading',
  hides: 'store',
  prepare: async ({ control }, seconds) => {
    const commands = (seconds * 1_000_000) / LOAD_DELAY_MICROSECONDS;
    for (let written = 0; written < commands; written += COMMANDS_AT_ONCE) {
      // oxlint-disable-next-line no-await-in-loop -- all at once would be one long pause of Redis
      await control.run('EVAL', FILL, 1, 'filler');
    }
  },
  begin: async (hands) => {
    await writeFile(hands.startFile, `key-load-delay ${LOAD_DELAY_MICROSECONDS}\n`);
    await hands.redis.restart('running');
    await untilPing(hands, /LOADING/, { what: 'a Redis that is loading' });
  },
  end: async (hands) => {
    await writeFile(hands.startFile, '');
    await untilPing(hands, /PONG/, { what: 'a Redis that has loaded', timeoutMs: LONGEST_LOAD_MS });
  },
};

/** The ways in which a Redis fails. `loading` is last: it leaves a long file behind. */
export const REDIS_FAULTS: readonly Fault[] = [
  {
    name: 'stopped',
    hides: 'store',
    begin: ({ redis }) => redis.stop(),
    end: ({ redis }) => redis.restart(),
  },
  {
    name: 'paused',
    hides: 'store',
    begin: ({ redis }) => redis.pause(),
    end: ({ redis }) => redis.resume(),
  },
  {
    name: 'black-holed',
    hides: 'store',
    begin: async ({ proxy }) => proxy.blackHole(),
    end: ({ proxy }) => proxy.pass(),
  },
  {
    name: 'script-errors',
    hides: 'store',
    begin: async ({ control }) => void (await control.run('ACL SETUSER default -eval -evalsha')),
    end: async ({ control }) => void (await control.run('ACL SETUSER default +eval +evalsha')),
  },
  {
    name: 'read-only',
    hides: 'writes',
    begin: async ({ control }) => {
      await control.run('CONFIG SET replica-serve-stale-data yes');
      await control.run('REPLICAOF 127.0.0.1 1');
    },
    end: async ({ control }) => void (await control.run('REPLICAOF NO ONE')),
  },
  {
    name: 'out-of-memory',
    hides: 'writes',
    begin: async ({ control }) => void (await control.run('CONFIG SET maxmemory 1mb')),
    end: async ({ control }) => void (await control.run('CONFIG SET maxmemory 0')),
  },
  {
    name: 'slow-50ms',
    // A process that was busy for longer than the delay finds the reading there when it looks, and no time for the commit.
    hides: 'writes',
    begin: async ({ proxy }) => proxy.delay({ toServerMs: 2, toClientMs: 48 }),
    end: ({ proxy }) => proxy.pass(),
  },
  loading,
];
