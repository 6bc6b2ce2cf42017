import { createHmac, timingSafeEqual } from 'node:crypto';
import { LIMITS } from '@adcap/contracts';
import { claimsFromParts, partsOfClaims, type ReservationClaims } from './reservation-claims.ts';

/** A signing secret and the name by which a token remembers it. */
export type TokenKey = { id: string; secret: string };

export type ReservationTokens = {
  /** Signs with the first key. */
  sign(claims: ReservationClaims): string;
  /** The claims of a token that any of the keys signed; `undefined` for everything else. Never throws. */
  verify(token: string): ReservationClaims | undefined;
};

const MAC_BYTES = 16;
const MAC_CHARACTERS = 22;
/** Keeps this use of a secret apart from any other. */
const MAC_PURPOSE = 'adcap reservation 1\n';
const TOKEN = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{22})$/;
const SHORTEST_SECRET = 16;

const macOf = (secret: string, payload: string): string =>
  createHmac('sha256', secret)
    .update(MAC_PURPOSE)
    .update(payload)
    .digest()
    .toString('base64url', 0, MAC_BYTES);

/** The texts are compared, not the bytes: base64url has unused bits at its end, and a second spelling of one MAC would
 * be a second id of one reservation. */
const isSameMac = (given: string, expected: string): boolean =>
  timingSafeEqual(Buffer.from(given, 'latin1'), Buffer.from(expected, 'latin1'));

const parseParts = (payload: string): readonly unknown[] | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const checkedSigningKey = (keys: readonly TokenKey[]): TokenKey => {
  const [signing] = keys;
  if (signing === undefined) throw new Error('at least one key is needed to sign reservations');
  if (new Set(keys.map((key) => key.id)).size !== keys.length)
    throw new Error('two reservation keys share one id');
  const weak = keys.find((key) => key.secret.length < SHORTEST_SECRET);
  if (weak !== undefined)
    throw new Error(
      `the secret of reservation key "${weak.id}" has fewer than ${SHORTEST_SECRET} characters`,
    );
  return signing;
};

/** What a token leaves out, in this order, to stay within its length: what the view itself can still say. */
const shorterClaims = (claims: ReservationClaims): readonly ReservationClaims[] => [
  claims,
  { ...claims, seller: undefined },
  { ...claims, seller: undefined, industryIds: [] },
  { ...claims, seller: undefined, industryIds: [], campaignId: undefined, brandId: undefined },
];

/**
 * Reservation ids: `base64url(JSON).base64url(HMAC)`, URL safe and self-contained, so that a tracking pixel needs
 * nothing else. Keys are rotated by putting the new one first and keeping the old one until its breaks are over.
 */
export const createReservationTokens = (keys: readonly TokenKey[]): ReservationTokens => {
  const signing = checkedSigningKey(keys);
  const secrets = new Map(keys.map((key) => [key.id, key.secret]));

  const signWhole = (claims: ReservationClaims): string => {
    const parts = [signing.id, ...partsOfClaims(claims)];
    const payload = Buffer.from(JSON.stringify(parts)).toString('base64url');
    return `${payload}.${macOf(signing.secret, payload)}`;
  };

  return {
    sign: (claims) => {
      let token = '';
      for (const candidate of shorterClaims(claims)) {
        token = signWhole(candidate);
        if (token.length <= LIMITS.tokenLength) return token;
      }
      return token;
    },
    verify: (token) => {
      if (token.length > LIMITS.tokenLength || token.length <= MAC_CHARACTERS) return undefined;
      const [, payload, mac] = TOKEN.exec(token) ?? [];
      if (payload === undefined || mac === undefined) return undefined;
      const [keyId, ...parts] = parseParts(payload) ?? [];
      const secret = typeof keyId === 'string' ? secrets.get(keyId) : undefined;
      if (secret === undefined || !isSameMac(mac, macOf(secret, payload))) return undefined;
      return claimsFromParts(parts);
    },
  };
};
