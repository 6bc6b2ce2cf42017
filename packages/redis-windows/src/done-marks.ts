import { deviceTag } from '@adcap/identity';
import type { Keys } from './keys.ts';
import { clientOf, inOneWrite, type RedisConnection } from './redis-connection.ts';

export type DoneItem = {
  deviceId: string /** What the impression is known by: 11 base64url characters. */;
  markKey: string;
};

/**
 * What the beacon has taken in the last two minutes, so that it can tell its caller about repeats. Only a courtesy:
 * failure policy: throws, and the caller goes on without it; consumers count once whatever it says.
 */
export type DoneMarks = {
  /** When the impression that left each mark was watched (epoch ms), in their order; `undefined` where there is none. */
  lookup(items: readonly DoneItem[]): Promise<(number | undefined)[]>;
  mark(items: readonly (DoneItem & { at: number })[]): Promise<void>;
};

/** Longer than the retries of a client that got no answer; short, because each is a key. */
const MARK_TTL_MS = 120_000;

export const createDoneMarks = (connection: RedisConnection, keys: Keys): DoneMarks => {
  const client = clientOf(connection);
  const keyOf = ({ deviceId, markKey }: DoneItem): string => keys.device(deviceTag(deviceId)).done(markKey);

  return {
    lookup: async (items) => {
      const marks = await inOneWrite(connection, () =>
        Promise.all(items.map((item) => client.get(keyOf(item)))),
      );
      return marks.map((mark) => (mark === null ? undefined : Number(mark)));
    },
    mark: async (items) => {
      await inOneWrite(connection, () =>
        Promise.all(items.map((item) => client.set(keyOf(item), item.at, 'PX', MARK_TTL_MS))),
      );
    },
  };
};
