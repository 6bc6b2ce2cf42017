import type { Keys } from './keys.ts';
import { clientOf, type RedisConnection } from './redis-connection.ts';
import { putRules } from './scripts/put-rules.ts';

export type CachedRules = { version: number; json: string };

/** The rules in force as Redis has them: the fence between two writers, and a start without the bus. */
export type RulesCache = {
  /** `undefined` where none were ever stored. Throws when Redis is away. */
  load(): Promise<CachedRules | undefined>;
  /**
   * Stores `version` only while `expectedVersion` (null: none) is still the one in force; false when it is not. Throws
   * when Redis is away, and then may have been done: load before trying again.
   */
  compareAndSet(expectedVersion: number | null, version: number, json: string): Promise<boolean>;
};

export const createRulesCache = (connection: RedisConnection, keys: Keys): RulesCache => ({
  load: async () => {
    const [version, json] = await clientOf(connection).hmget(keys.rules, 'version', 'json');
    if (version === null || version === undefined || json === null || json === undefined) return undefined;
    return { version: Number(version), json };
  },
  compareAndSet: async (expectedVersion, version, json) => {
    const reply = await putRules.run(connection, {
      keys: { rules: keys.rules },
      args: { expectedVersion: expectedVersion ?? '', version, json },
    });
    return reply === 1;
  },
});
