import { sha256OfParts } from './sha256.ts';

const KEY_BYTES = 8;

/** One playback of a break as 8 bytes in base64url (11 characters). A break id is unique within its session only. */
export const breakKeyOf = (sessionId: string | undefined, breakId: string): string =>
  sha256OfParts(['break-key', sessionId ?? null, breakId]).toString('base64url', 0, KEY_BYTES);
