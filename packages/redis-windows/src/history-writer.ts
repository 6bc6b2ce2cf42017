import { type ImpressionEvent, SAME_MOMENT_MS } from '@adcap/contracts';
import type { ScriptArgument } from './define-script.ts';
import { encodeHistoryRecord } from './history-record.ts';
import { placeOfImpression } from './impression-place.ts';
import { createImpressionWriter, type ImpressionWriter } from './impression-writer.ts';
import type { Keys } from './keys.ts';
import { idBytes } from './packed-fields.ts';
import type { RedisConnection } from './redis-connection.ts';
import { keepMs, metaTtlMs, type Retention } from './retention.ts';
import { applyHistory } from './scripts/apply-history.ts';

const argumentsOf = (event: ImpressionEvent): ScriptArgument[] => [
  event.at,
  event.receivedAt,
  event.identity === 'moment' ? 1 : 0,
  placeOfImpression(event),
  idBytes(event.fingerprint),
  event.creativeId,
  encodeHistoryRecord(event),
];

/** Keeps the history: `h` of each device. */
export const createHistoryWriter = (
  connection: RedisConnection,
  settings: { keys: Keys } & Retention,
): ImpressionWriter => {
  const args = {
    keepMs: keepMs(settings),
    metaTtlMs: metaTtlMs(settings),
    sameMomentMs: SAME_MOMENT_MS,
  };
  return createImpressionWriter(connection, settings.keys, (keys, events) =>
    applyHistory.run(connection, { keys, args, each: events.flatMap(argumentsOf) }),
  );
};
