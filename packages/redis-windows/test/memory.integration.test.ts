import { expect } from 'vitest';
import { encodeHistoryRecord } from '../src/history-record.ts';
import { anImpression } from './an-impression.ts';
import { apply, test } from './stores.ts';

const DEVICES = 100;
const IMPRESSIONS = 30;

// Printed, not asserted to the byte: the figure is the allocator's as well as ours. The encoding is asserted, because
// losing it costs two to three times the memory.
test('30 impressions of a device stay compact; says what they cost', async ({ stores, redis }) => {
  const now = Date.now();
  const events = Array.from({ length: DEVICES * IMPRESSIONS }, (_, index) =>
    anImpression({
      deviceId: `tv-${index % DEVICES}`,
      creativeId: `cr-${1_000 + (index % 97)}`,
      campaignId: `k-${index % 31}`,
      at: now - index * 20_000 - (index % 7_919),
    }),
  );
  await apply(stores.window, stores.connection, events);
  await apply(stores.history, stores.connection, events);

  const bytes = { window: 0, history: 0 };
  for (let device = 0; device < DEVICES; device += 1) {
    const { window, history } = stores.deviceKeys(`tv-${device}`);
    bytes.window += Number(await redis.memory('USAGE', window));
    bytes.history += Number(await redis.memory('USAGE', history));
    expect(await redis.object('ENCODING', window)).toMatch(/^(zip|list)/);
    expect(await redis.object('ENCODING', history)).toMatch(/^(zip|list)/);
  }
  const recordBytes = Math.round(
    events.reduce((sum, event) => sum + encodeHistoryRecord(event).length, 0) / events.length,
  );
  // oxlint-disable-next-line no-console
  console.log(
    `window: ${Math.round(bytes.window / DEVICES)} B a device; history: ${Math.round(bytes.history / events.length)} B ` +
      `an impression with records of ${recordBytes} B (${IMPRESSIONS} impressions a device)`,
  );
});
