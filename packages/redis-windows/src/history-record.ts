import { type EpochMs, epochMs, type Fingerprint, fingerprint, type ImpressionEvent } from '@adcap/contracts';
import type { View } from '@adcap/rule-engine';
import { z } from 'zod';
import { StoredFormatError } from './stored-format-error.ts';
import { viewOfImpression } from './window-member.ts';

/** One impression as the history tells it. */
export type HistoryRecord = {
  fingerprint: Fingerprint;
  at: EpochMs;
  creativeId: string;
  campaignId?: string | undefined;
  brandId?: string | undefined;
  industryIds: readonly string[];
  seller?: string | undefined;
  sessionId?: string | undefined;
  breakId?: string | undefined;
  slot?: number | undefined;
  durationMs?: number | undefined;
};

const extrasSchema = z.object({
  seller: z.string().optional(),
  sessionId: z.string().optional(),
  breakId: z.string().optional(),
  slot: z.number().optional(),
  durationMs: z.number().optional(),
});

type Extras = z.output<typeof extrasSchema>;

// A missing campaign or brand is "" (no id is empty); industries and extras are left out where there are none.
// apply-history.lua reads the fingerprint by its place in the text and the creative by its place in the list.
type Stored = readonly [
  fingerprint: string,
  at: number,
  creativeId: string,
  campaignId: string,
  brandId: string,
  industryIds?: readonly string[],
  extras?: unknown,
];

const LEAST_FIELDS = 5;
const MOST_FIELDS = 7;

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

/** By hand: hundreds of thousands are read at once where a change is previewed, and a schema costs three times as much. */
const isStored = (value: unknown): value is Stored =>
  Array.isArray(value) &&
  value.length >= LEAST_FIELDS &&
  value.length <= MOST_FIELDS &&
  typeof value[0] === 'string' &&
  Number.isFinite(value[1]) &&
  typeof value[2] === 'string' &&
  typeof value[3] === 'string' &&
  typeof value[4] === 'string' &&
  (value.length === LEAST_FIELDS || isTexts(value[5]));

const extrasOf = (event: ImpressionEvent): Extras => ({
  ...(event.seller === undefined ? {} : { seller: event.seller }),
  ...(event.sessionId === undefined ? {} : { sessionId: event.sessionId }),
  ...(event.breakId === undefined ? {} : { breakId: event.breakId }),
  ...(event.slot === undefined ? {} : { slot: event.slot }),
  ...(event.durationMs === undefined ? {} : { durationMs: event.durationMs }),
});

const hasAny = (extras: Extras): boolean => Object.keys(extras).length > 0;

/** The text of a record: a JSON list, readable in `redis-cli` and about 60 bytes for a plain impression. */
export const encodeHistoryRecord = (event: ImpressionEvent): string => {
  const { industryIds } = event;
  const head = [event.fingerprint, event.at, event.creativeId, event.campaignId ?? '', event.brandId ?? ''];
  const extras = extrasOf(event);
  if (hasAny(extras)) return JSON.stringify([...head, industryIds, extras]);
  return JSON.stringify(industryIds.length > 0 ? [...head, industryIds] : head);
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new StoredFormatError('a history record is not JSON');
  }
};

const orMissing = (id: string): string | undefined => (id === '' ? undefined : id);

const readExtras = (stored: unknown): Extras => {
  if (stored === undefined) return {};
  const extras = extrasSchema.safeParse(stored);
  if (!extras.success) throw new StoredFormatError('a history record has an unknown form');
  return extras.data;
};

export const decodeHistoryRecord = (text: string): HistoryRecord => {
  const parsed = parseJson(text);
  if (!isStored(parsed)) throw new StoredFormatError('a history record has an unknown form');
  const [print, at, creativeId, campaignId, brandId, industryIds = [], extras] = parsed;
  return {
    fingerprint: fingerprint(print),
    at: epochMs(at),
    creativeId,
    campaignId: orMissing(campaignId),
    brandId: orMissing(brandId),
    industryIds,
    ...readExtras(extras),
  };
};

/** Law 12: what the history has and the window lacks. Together each impression is there once, whichever consumer is ahead. */
export const lackingInWindow = (
  history: readonly HistoryRecord[],
  window: readonly { fingerprint: Fingerprint }[],
): HistoryRecord[] => {
  const known = new Set(window.map(({ fingerprint: print }) => print));
  return history.filter(({ fingerprint: print }) => !known.has(print));
};

/** The same view that the quota window holds of this impression: whoever counts gets the same numbers from either. */
export const viewOfHistoryRecord = (record: HistoryRecord): View => ({
  at: record.at,
  ...viewOfImpression(record),
});
