import { AppError, decisionRecordSchema, epochMs } from '@adcap/contracts';
import { deviceTag, valueKeyOf } from '@adcap/identity';
import { type BusSettings, type NewestRecord, readNewest } from '@adcap/kafka-bus';
import { toAd } from '@adcap/rule-engine';
import type { RecordedDecision } from '../domain/lost-fill.ts';
import { createSlices } from '../slices.ts';

/** Why nothing is said about lost fill. */
export const LOST_FILL_REASONS = ['no_decisions', 'bus_unavailable', 'not_in_time'] as const;
export type LostFillReason = (typeof LOST_FILL_REASONS)[number];

/** Decisions by the tag of their device, each device's oldest first. */
type DecisionsByDevice = ReadonlyMap<string, readonly RecordedDecision[]>;

/** Failure policy: never rejects; says why there is nothing. */
export type RecordedDecisions = (signal: AbortSignal) => Promise<DecisionsByDevice | LostFillReason>;

const MOST_RECORDS = 20_000;
const MOST_BYTES = 16_777_216;
const MOST_DEVICES = 2_000;

type Read = { name: string; decision: RecordedDecision };

const read = ({ value }: NewestRecord): Read | undefined => {
  if (value === null) return undefined;
  try {
    const { breakAt, spare, placed, sessionId, breakId, round } = decisionRecordSchema.parse(
      JSON.parse(value.toString()),
    );
    const own = placed.filter(({ isKept }) => !isKept);
    if (own.length === 0) return undefined;
    const ads = own.map((place) => toAd({ ...place, exempt: place.exempt ?? false }, valueKeyOf));
    const decision = { breakAt: epochMs(breakAt), placed: ads, spare };
    return { name: JSON.stringify([sessionId, breakId, round]), decision };
  } catch {
    return undefined;
  }
};

const byTime = (a: RecordedDecision, b: RecordedDecision): number => a.breakAt - b.breakAt;

/** The newest devices with their decisions; a break that was asked for again is one decision, as it was told last. */
const gather = async (records: readonly NewestRecord[]): Promise<DecisionsByDevice> => {
  const devices = new Map<string, Map<string, RecordedDecision>>();
  const sliced = createSlices();
  for (const record of records.toReversed()) {
    // Tens of thousands of them: in slices, so that others are served meanwhile.
    // oxlint-disable-next-line no-await-in-loop
    await sliced();
    const tag = deviceTag(record.key ?? '');
    const known = devices.get(tag);
    if (known === undefined && devices.size >= MOST_DEVICES) continue;
    const found = read(record);
    if (found === undefined || known?.has(found.name) === true) continue;
    if (known === undefined) devices.set(tag, new Map([[found.name, found.decision]]));
    else known.set(found.name, found.decision);
  }
  return new Map([...devices].map(([tag, decisions]) => [tag, [...decisions.values()].toSorted(byTime)]));
};

/** Reads the newest decisions off their topic, so many, so large and for so long. */
export const createRecordedDecisions =
  (options: { bus: BusSettings; topic: string; timeoutMs: number }): RecordedDecisions =>
  async (signal) => {
    const limits = { maxRecords: MOST_RECORDS, maxBytes: MOST_BYTES };
    try {
      const { records, isComplete } = await readNewest({ ...options, ...limits, signal });
      const devices = await gather(records);
      if (devices.size > 0) return devices;
      return isComplete ? 'no_decisions' : 'not_in_time';
    } catch (err) {
      const isAway = err instanceof AppError && err.code === 'ADCAP_BUS_UNAVAILABLE';
      if (!isAway) options.bus.logger.error({ err }, 'recorded decisions cannot be read');
      return 'bus_unavailable';
    }
  };
