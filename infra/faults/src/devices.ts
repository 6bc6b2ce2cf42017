import type { ImpressionEvent } from '@adcap/contracts';
import { impressionIdentity, reservationFingerprint } from '@adcap/identity';
import { createHistoryWriter, createKeys, createWindowWriter } from '@adcap/redis-windows';
import { waitFor } from '@adcap/testkit/servers';
import type { Answered } from './answered.ts';
import { WATCHED } from './asking.ts';
import type { Scene } from './open-scene.ts';

const RETENTION = { retentionMs: 86_400_000, graceMs: 30_000 };
const MINUTE_MS = 60_000;
const VIEWS = [...WATCHED].flatMap(([creativeId, times]) => Array.from({ length: times }, () => creativeId));

const viewsOf = (deviceId: string, nowMs: number): ImpressionEvent[] =>
  VIEWS.map((creativeId, index) => {
    const at = nowMs - (index + 1) * MINUTE_MS;
    const event = { deviceId, creativeId, industryIds: [], receivedAt: at, impressionId: `view-${index}` };
    return { type: 'NEW_IMPRESSION', v: 1, at, ...event, ...impressionIdentity({ ...event, at }) };
  });

const WRITERS = { history: createHistoryWriter, window: createWindowWriter };

/** Has every device watch the same, through the writers of the two consumers; again where a connection broke, as they do. */
export const seedDevices = async (
  { connection }: Pick<Scene, 'connection'>,
  deviceIds: readonly string[],
  nowMs: number,
): Promise<void> => {
  const settings = { keys: createKeys(), ...RETENTION };
  const events = deviceIds.flatMap((deviceId) => viewsOf(deviceId, nowMs));
  for (const [name, createWriter] of Object.entries(WRITERS)) {
    const write = async (): Promise<boolean> => {
      await connection.whenReady();
      const applied = {
        group: `faults-${name}`,
        partition: 0,
        nextOffset: 1n,
        epoch: connection.epoch(),
      };
      const results = await createWriter(connection, settings).applyBatch({ events, applied });
      const failed = results.find((result) => result.kind === 'failed');
      if (failed !== undefined) throw failed.error;
      return true;
    };
    // oxlint-disable-next-line no-await-in-loop -- one after the other is fast enough
    await waitFor(write, { what: `devices that have watched, in the ${name}` });
  }
};

type Report = {
  history: unknown[];
  window: { count: number };
  reservations: { id: string; breakAt: number }[];
  caps: { ruleId: string; value: string; used: number }[];
};

/** What the service tells its operator of one device. */
const inspect = async (
  { url, operatorToken }: Scene['selection'],
  deviceId: string,
  at: number,
): Promise<Report> => {
  const response = await fetch(`${url}/v1/devices/${encodeURIComponent(deviceId)}?at=${at}`, {
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  if (response.status !== 200) throw new Error(`${deviceId}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Report;
};

export type Difference = {
  /** Held, and no answer said so. */
  phantoms: string[];
  /** Promised, and not held. */
  lost: string[];
  /** Devices whose used values are not the ones that were watched. */
  miscounted: string[];
};

/** What the answers of a run said about one device. */
type Said = {
  deviceId: string;
  promised: Set<string>;
  /** The instants of breaks that got no answer: whether they hold anything was told to nobody. */
  untold: Set<number>;
};

const saidOf = (answered: readonly Answered[]): Said[] => {
  const byDevice = new Map<string, Said>();
  for (const { deviceId, breakAt, status, isReserved, reservationIds } of answered) {
    const said = byDevice.get(deviceId) ?? { deviceId, promised: new Set(), untold: new Set() };
    byDevice.set(deviceId, said);
    if (status === 0) said.untold.add(breakAt);
    if (!isReserved) continue;
    for (const id of reservationIds) said.promised.add(reservationFingerprint(deviceId, id));
  }
  return [...byDevice.values()];
};

const countsRight = ({ history, window, caps }: Report): boolean =>
  history.length === VIEWS.length &&
  window.count === VIEWS.length &&
  [...WATCHED].every(([creative, times]) =>
    caps.some(
      ({ ruleId, value, used }) => ruleId === 'creative-daily' && value === creative && used === times,
    ),
  );

const compareDevice = async (
  selection: Scene['selection'],
  { deviceId, promised, untold }: Said,
  at: number,
): Promise<Difference> => {
  const report = await inspect(selection, deviceId, at);
  const held = new Set(report.reservations.map(({ id }) => id));
  return {
    phantoms: report.reservations
      .filter(({ id, breakAt }) => !promised.has(id) && !untold.has(breakAt))
      .map(({ id }) => `${deviceId} holds ${id}`),
    lost: [...promised].filter((id) => !held.has(id)).map((id) => `${deviceId} does not hold ${id}`),
    miscounted: countsRight(report) ? [] : [deviceId],
  };
};

const AT_ONCE = 8;

/** Compares what Redis holds of every device of a run with what the answers of the run said. */
export const compareDevices = async (
  selection: Scene['selection'],
  answered: readonly Answered[],
  at: number,
): Promise<Difference> => {
  const waiting = saidOf(answered);
  const differences: Difference[] = [];
  const compareNext = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      // oxlint-disable-next-line no-await-in-loop -- several of these loops run at once
      differences.push(await compareDevice(selection, next, at));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, compareNext));
  return {
    phantoms: differences.flatMap(({ phantoms }) => phantoms),
    lost: differences.flatMap(({ lost }) => lost),
    miscounted: differences.flatMap(({ miscounted }) => miscounted),
  };
};
