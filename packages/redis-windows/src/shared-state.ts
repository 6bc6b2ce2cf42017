import { type EpochMs, epochMs } from '@adcap/contracts';
import { PARTITIONS_FIELD } from './applied-offsets.ts';
import type { Keys } from './keys.ts';
import { clientOf, inOneWrite, type RedisConnection } from './redis-connection.ts';

/** Up to when one consumer group has applied the impressions of each partition. */
export type AppliedInstants = {
  /** How many partitions the topic has; undefined where no consumer has said so. */
  partitions: number | undefined;
  /** By partition; one that is missing is not known. */
  at: ReadonlyMap<number, EpochMs>;
};

export type SharedReading = {
  /** The epoch of the connection that it was read in: behind a higher one Redis may have come back older. */
  epoch: number;
  applied: { history: AppliedInstants; quota: AppliedInstants };
  /** Name to what the services wrote. */
  switches: ReadonlyMap<string, string>;
};

/** What services tell each other through Redis, beside devices and rules. */
export type SharedState = {
  epoch(): number;
  /** All of it, in one round trip. Throws when Redis is away. */
  read(): Promise<SharedReading>;
  /** Throws when Redis is away, and then may have been done. */
  putSwitch(name: string, value: string): Promise<void>;
};

const AT_FIELD = /^(\d+):at$/;

const instantsOf = (hash: Readonly<Record<string, string>>): AppliedInstants => {
  const at = new Map<number, EpochMs>();
  for (const [field, value] of Object.entries(hash)) {
    const partition = AT_FIELD.exec(field)?.[1];
    if (partition !== undefined) at.set(Number(partition), epochMs(Number(value)));
  }
  const partitions = Number(hash[PARTITIONS_FIELD]);
  return { partitions: partitions > 0 ? partitions : undefined, at };
};

export const createSharedState = (
  connection: RedisConnection,
  { keys, groups }: { keys: Keys; groups: { history: string; quota: string } },
): SharedState => ({
  epoch: () => connection.epoch(),
  read: async () => {
    const epoch = connection.epoch();
    const client = clientOf(connection);
    const [history, quota, switches] = await inOneWrite(connection, () =>
      Promise.all([
        client.hgetall(keys.applied(groups.history)),
        client.hgetall(keys.applied(groups.quota)),
        client.hgetall(keys.switches),
      ]),
    );
    return {
      epoch,
      applied: { history: instantsOf(history), quota: instantsOf(quota) },
      switches: new Map(Object.entries(switches)),
    };
  },
  putSwitch: async (name, value) => {
    await clientOf(connection).hset(keys.switches, name, value);
  },
});
