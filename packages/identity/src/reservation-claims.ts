/** What a reservation id says by itself: enough to count the view that answers it, wherever it is posted from. */
export type ReservationClaims = {
  deviceId: string;
  sessionId?: string | undefined;
  breakId: string;
  slot: number;
  creativeId: string;
  campaignId?: string | undefined;
  brandId?: string | undefined;
  industryIds: readonly string[];
  durationMs?: number | undefined;
  seller?: string | undefined;
  /** Epoch ms; makes two grants of one place two reservations. */
  grantedAt: number;
};

/** Rises when the order of the parts changes. */
const FORMAT = 1;

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
const optional = <T>(value: unknown, is: (value: unknown) => value is T): value is T | null =>
  value === null || is(value);

/** The claims as a positional list: a third of the length of an object with names. */
export const partsOfClaims = (claims: ReservationClaims): readonly unknown[] => [
  FORMAT,
  claims.deviceId,
  claims.sessionId ?? null,
  claims.breakId,
  claims.slot,
  claims.creativeId,
  claims.campaignId ?? null,
  claims.brandId ?? null,
  claims.industryIds,
  claims.durationMs ?? null,
  claims.seller ?? null,
  claims.grantedAt,
];

/** The claims of such a list, or `undefined` where it is none (a format of another release, signed by a shared key). */
export const claimsFromParts = (parts: readonly unknown[]): ReservationClaims | undefined => {
  const [format, deviceId, sessionId, breakId, slot, creativeId, ...rest] = parts;
  const [campaignId, brandId, industryIds, durationMs, seller, grantedAt] = rest;
  if (format !== FORMAT || !isText(deviceId) || !isText(breakId) || !isText(creativeId)) return undefined;
  if (!isNumber(slot) || !isNumber(grantedAt) || !isTexts(industryIds)) return undefined;
  if (!optional(sessionId, isText) || !optional(campaignId, isText) || !optional(brandId, isText))
    return undefined;
  if (!optional(durationMs, isNumber) || !optional(seller, isText)) return undefined;
  return {
    deviceId,
    breakId,
    slot,
    creativeId,
    industryIds,
    grantedAt,
    ...(sessionId === null ? {} : { sessionId }),
    ...(campaignId === null ? {} : { campaignId }),
    ...(brandId === null ? {} : { brandId }),
    ...(durationMs === null ? {} : { durationMs }),
    ...(seller === null ? {} : { seller }),
  };
};
