import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '@adcap/contracts';

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Tells producers (a stitcher, an import), whose clock is believed, from devices. Where no producer has a token nobody is
 * one. A bearer token that nobody has is refused: its views would silently count at the wrong time.
 */
export const createProducerCheck = (
  tokens: readonly string[],
): ((authorization: string | undefined) => boolean) => {
  const known = tokens.map(digest);
  return (authorization) => {
    const presented = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (presented === undefined || known.length === 0) return false;
    const hash = digest(presented);
    if (known.filter((token) => timingSafeEqual(token, hash)).length > 0) return true;
    throw new AppError('ADCAP_AUTH_MISSING', 'No producer has this token.');
  };
};
