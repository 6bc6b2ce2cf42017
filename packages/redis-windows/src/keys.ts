/** The keys of one device: all share the hash tag, so that one script call may touch them in a Cluster. */
export type DeviceKeys = {
  history: string;
  window: string;
  reservations: string;
  meta: string;
  /** The stored pod of a break, by its key. */
  pod(breakKey: string): string;
  /** The beacon's mark of an impression that it has taken. */
  done(markKey: string): string;
};

export type Keys = {
  prefix: string;
  device(tag: string): DeviceKeys;
  /** partition → offset applied, of one consumer group. */
  applied(group: string): string;
  rules: string;
  /** Operator switches by name. */
  switches: string;
  /** What SCAN matches to find every key of every device. */
  everyDevicePattern: string;
  /** What SCAN matches to find the history of every device. */
  everyHistoryPattern: string;
  /** The tag of the device that a history key belongs to; undefined where it is no such key. */
  tagOfHistory(key: string): string | undefined;
};

export const DEFAULT_KEY_PREFIX = 'adcap:';

const BRACES = /[{}]/;
const GLOB = /[\\*?[\]]/g;
const HISTORY_END = '}:h';

/**
 * The one home of key names. A prefix separates installations that share a Redis and carries no brace: the first pair of
 * braces in a key is its hash tag.
 */
export const createKeys = (prefix: string = DEFAULT_KEY_PREFIX): Keys => {
  if (BRACES.test(prefix)) throw new Error(`the key prefix "${prefix}" must not contain braces`);
  const pattern = `${prefix.replace(GLOB, '\\$&')}{*`;
  return {
    prefix,
    device: (tag) => {
      const base = `${prefix}{${tag}}:`;
      return {
        history: `${base}h`,
        window: `${base}w`,
        reservations: `${base}r`,
        meta: `${base}m`,
        pod: (breakKey) => `${base}b:${breakKey}`,
        done: (markKey) => `${base}d:${markKey}`,
      };
    },
    applied: (group) => `${prefix}applied:${group}`,
    rules: `${prefix}rules`,
    switches: `${prefix}switches`,
    everyDevicePattern: pattern,
    everyHistoryPattern: `${pattern}${HISTORY_END}`,
    tagOfHistory: (key) => {
      if (!key.startsWith(`${prefix}{`) || !key.endsWith(HISTORY_END)) return undefined;
      const tag = key.slice(prefix.length + 1, -HISTORY_END.length);
      return BRACES.test(tag) ? undefined : tag;
    },
  };
};
