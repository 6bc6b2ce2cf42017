import { createHash } from 'node:crypto';
import { z } from 'zod';

/** A token as it is kept: its digest, and whose it is. The token itself is in no setting that was read. */
export type TokenDigest = { name?: string; sha256: Buffer };

const NAMED = /^([\p{L}\p{N}_.@+-]{1,64})=(.*)$/u;
/** `openssl rand -base64 32` ends in one: a token, and no name that lacks its token. */
const PADDED_BASE64 = /^[A-Za-z0-9+/]{22,}={1,2}$/;
const HASHED = 'sha256:';
const HEX = /^[0-9a-f]{64}$/i;

export const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** What is wrong is said without the value, which may be a secret. */
const readSecret = (secret: string): Buffer | string => {
  if (/\s/.test(secret)) return 'must not have spaces within a token';
  if (!secret.startsWith(HASHED)) return digestOf(secret);
  const hex = secret.slice(HASHED.length);
  return HEX.test(hex) ? Buffer.from(hex, 'hex') : 'sha256: must be followed by 64 hexadecimal digits';
};

const readEntry = (entry: string): TokenDigest | string => {
  const isPadded = PADDED_BASE64.test(entry) && entry.length % 4 === 0;
  const named = isPadded ? null : NAMED.exec(entry);
  const [, name, secret = entry] = named ?? [];
  // A variable that was not set: nobody may come in with what is left of it.
  if (secret.replaceAll('=', '') === '') return 'has a name without a token';
  const sha256 = readSecret(secret);
  if (typeof sha256 === 'string') return sha256;
  return name === undefined ? { sha256 } : { name, sha256 };
};

/** `token`, `name=token`, `sha256:<hex>` or `name=sha256:<hex>`, separated by commas, as their digests. */
export const accessTokens = z.string().transform((text, ctx) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const read = readEntry(entry);
      if (typeof read !== 'string') return read;
      ctx.addIssue({ code: 'custom', message: read });
      return z.NEVER;
    }),
);
