import { setTimeout as delay } from 'node:timers/promises';
import { decodeHistoryRecord, type HistoryRecord } from './history-record.ts';
import type { Keys } from './keys.ts';
import { clientOf, inOneWrite, type RedisConnection } from './redis-connection.ts';
import { scanDevices } from './scan-devices.ts';
import { isRetryableStoreError } from './store-errors.ts';

/** What one device watched, decoded when it is asked for: the caller decides how much it does at a time. */
export type SampledDevice = {
  tag: string;
  /** Oldest first. What cannot be read is left out and counted. */
  decode(): { records: HistoryRecord[]; unreadable: number };
};

export type SampledBatch = {
  devices: readonly SampledDevice[];
  /** Devices with a history, met so far. */
  found: number;
  /** How much of the keyspace has been looked through for them, 0 to 1; 1: all of it. */
  share: number;
};

/**
 * Histories of many devices, for questions that are not a decision's. Reads alone, one batch in flight, the next one only
 * when the last was taken; behind a slow one it waits as long as that took. Failure policy: throws what the client
 * throws, and what `signal` aborts with; a key that is no history is passed over.
 */
export type HistorySample = {
  /** A random sample of the devices that have a history; every one of them where there are no more. */
  random(wanted: { devices: number; signal: AbortSignal }): AsyncGenerator<SampledBatch>;
  /** These devices. Those without a history are left out. */
  of(tags: readonly string[], signal: AbortSignal): AsyncGenerator<readonly SampledDevice[]>;
};

export type HistorySampleSettings = {
  keys: Keys;
  random: () => number;
};

/** Keys that one SCAN looks at: it holds up everybody else for a fraction of a millisecond. */
const KEYS_PER_SCAN = 1_000;
const MOST_DEVICES_PER_READ = 100;
/** Before anything is known about how much a device watches. */
const FIRST_DEVICES_PER_READ = 16;
/** A quarter of a millisecond of Redis, and some 50 kB: with four times as many the slowest decisions took twice as long. */
const RECORDS_PER_READ = 500;
/** A round trip of so many milliseconds has waited behind others: then this waits for them. */
const SLOW_MS = 20;
const LONGEST_PAUSE_MS = 250;

type Stored = { tag: string; texts: readonly string[] };

const devicesForNext = (stored: readonly Stored[]): number => {
  const records = stored.reduce((sum, { texts }) => sum + texts.length, 0);
  const fitting = Math.floor((RECORDS_PER_READ * stored.length) / Math.max(1, records));
  return Math.min(MOST_DEVICES_PER_READ, Math.max(1, fitting));
};

const toDevice = ({ tag, texts }: Stored): SampledDevice => ({
  tag,
  decode: () => {
    const records: HistoryRecord[] = [];
    for (const text of texts) {
      try {
        records.push(decodeHistoryRecord(text));
      } catch {
        // Of another release, or damaged: counted below.
      }
    }
    return { records, unreadable: texts.length - records.length };
  },
});

/** Over a connection of its own: what it reads in a batch nobody else should have to wait for. */
export const createHistorySample = (
  connection: RedisConnection,
  { keys, random }: HistorySampleSettings,
): HistorySample => {
  const client = clientOf(connection);
  let devicesPerRead = FIRST_DEVICES_PER_READ;

  const paced = async <Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> => {
    signal.throwIfAborted();
    const begun = performance.now();
    const answer = await ask();
    const tookMs = performance.now() - begun;
    if (tookMs > SLOW_MS) await delay(Math.min(tookMs, LONGEST_PAUSE_MS), undefined, { signal });
    return answer;
  };

  const readOne = async (tag: string): Promise<Stored> => {
    try {
      return { tag, texts: await client.zrangebyscore(keys.device(tag).history, '(0', '+inf') };
    } catch (error) {
      if (isRetryableStoreError(error)) throw error;
      return { tag, texts: [] };
    }
  };

  /** Reads so many at once that a reply stays about as long as the one before should have been. */
  async function* readAll(tags: readonly string[], signal: AbortSignal): AsyncGenerator<SampledDevice[]> {
    for (let from = 0; from < tags.length; ) {
      const some = tags.slice(from, from + devicesPerRead);
      from += some.length;
      // One batch in flight, by design.
      // oxlint-disable-next-line no-await-in-loop
      const stored = await paced(signal, () => inOneWrite(connection, () => Promise.all(some.map(readOne))));
      devicesPerRead = devicesForNext(stored);
      yield stored.filter(({ texts }) => texts.length > 0).map(toDevice);
    }
  }

  const scan = async (cursor: string, signal: AbortSignal): Promise<readonly [string, string[]]> => {
    const [next, found] = await paced(signal, () =>
      client.scan(cursor, 'MATCH', keys.everyHistoryPattern, 'COUNT', KEYS_PER_SCAN),
    );
    return [next, found.map((key) => keys.tagOfHistory(key)).filter((tag) => tag !== undefined)];
  };

  async function* randomDevices(wanted: number, signal: AbortSignal): AsyncGenerator<SampledBatch> {
    let left = wanted;
    for await (const step of scanDevices({ scan: (cursor) => scan(cursor, signal), random })) {
      const { found, share } = step;
      for await (const devices of readAll(step.tags.slice(0, left), signal)) yield { devices, found, share };
      // Where nothing was found it is known all the same that nothing is there.
      yield { devices: [], found, share };
      left -= step.tags.length;
      if (left <= 0) return;
    }
  }

  return {
    random: ({ devices, signal }) => randomDevices(devices, signal),
    of: (tags, signal) => readAll(tags, signal),
  };
};
