import { type EpochMs, epochMs } from '@adcap/contracts';
import type { Reservation } from '@adcap/rule-engine';
import { decodeHistoryRecord, type HistoryRecord } from './history-record.ts';
import type { DeviceKeys } from './keys.ts';
import { clientOf, type RedisConnection } from './redis-connection.ts';
import { decodeReservations } from './reservation-member.ts';
import { decodeWindowMember, type WindowMember } from './window-member.ts';

/** Everything that is stored of a device, readable, oldest first. */
export type DeviceInspection = {
  nowMs: EpochMs;
  version: number;
  erasedAt: EpochMs | undefined;
  history: HistoryRecord[];
  window: WindowMember[];
  /** The live ones. */
  reservations: Reservation[];
};

const MICROSECONDS = 1_000;

/** For people: several reads, not one moment, so an impression may be in the history and not yet in the window. */
export const inspectDevice = async (
  connection: RedisConnection,
  keys: DeviceKeys,
): Promise<DeviceInspection> => {
  const client = clientOf(connection);
  const [seconds, micros] = await client.time();
  const nowMs = epochMs(Number(seconds) * 1_000 + Math.floor(Number(micros) / MICROSECONDS));
  const [history, window, reservations, [version, erasedAt]] = await Promise.all([
    client.zrangebyscore(keys.history, '(0', '+inf'),
    client.zrangebyscoreBuffer(keys.window, '(0', '+inf'),
    client.zrangebyscoreBuffer(keys.reservations, `(${nowMs}`, '+inf'),
    client.hmget(keys.meta, 'v', 'erasedAt'),
  ]);
  return {
    nowMs,
    version: Number(version ?? 0),
    erasedAt: erasedAt === null || erasedAt === undefined ? undefined : epochMs(Number(erasedAt)),
    history: history.map(decodeHistoryRecord),
    window: window.map(decodeWindowMember),
    reservations: decodeReservations(Buffer.concat(reservations)),
  };
};
