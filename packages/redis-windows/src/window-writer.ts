import { epochMs, fingerprint, type ImpressionEvent, SAME_MOMENT_MS } from '@adcap/contracts';
import type { ScriptArgument } from './define-script.ts';
import { placeOfImpression } from './impression-place.ts';
import { createImpressionWriter, type ImpressionWriter } from './impression-writer.ts';
import type { Keys } from './keys.ts';
import type { RedisConnection } from './redis-connection.ts';
import { keepMs, metaTtlMs, type Retention } from './retention.ts';
import { applyWindow } from './scripts/apply-window.ts';
import { encodeWindowMember, viewOfImpression } from './window-member.ts';

const argumentsOf = (event: ImpressionEvent): ScriptArgument[] => [
  event.at,
  event.receivedAt,
  event.identity === 'moment' ? 1 : 0,
  placeOfImpression(event),
  encodeWindowMember({
    ...viewOfImpression(event),
    at: epochMs(event.at),
    fingerprint: fingerprint(event.fingerprint),
  }),
];

/** Keeps the quota windows: `w` of each device. */
export const createWindowWriter = (
  connection: RedisConnection,
  settings: { keys: Keys } & Retention,
): ImpressionWriter => {
  const args = {
    keepMs: keepMs(settings),
    metaTtlMs: metaTtlMs(settings),
    sameMomentMs: SAME_MOMENT_MS,
  };
  return createImpressionWriter(connection, settings.keys, (keys, events) =>
    applyWindow.run(connection, { keys, args, each: events.flatMap(argumentsOf) }),
  );
};
