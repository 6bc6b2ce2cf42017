import type { ImpressionEvent } from '@adcap/contracts';
import { impressionIdentity } from '@adcap/identity';
import { createHistoryWriter, createKeys, createWindowWriter } from '@adcap/redis-windows';
import { test as base } from '@adcap/testkit';
import { RETENTION, type Selection, startSelection } from './start-selection.ts';

export type Watch = (
  views: readonly (Partial<ImpressionEvent> & { at: number; reservationId?: string })[],
) => Promise<void>;

let impressions = 0;

const toEvent = ({
  reservationId,
  ...view
}: Partial<ImpressionEvent> & { at: number; reservationId?: string }): ImpressionEvent => {
  impressions += 1;
  const event = {
    deviceId: 'd1',
    creativeId: 'c1',
    industryIds: [],
    receivedAt: view.at,
    impressionId: `i${impressions}`,
    ...view,
  };
  return { type: 'NEW_IMPRESSION', v: 1, ...event, ...impressionIdentity({ ...event, reservationId }) };
};

/** A selection service, and a way to have things watched as the two consumers would have written them. */
export const test = base.extend<{
  selection: Selection;
  watch: Watch;
  watchOnly: (where: 'history' | 'window') => Watch;
}>({
  selection: async ({ redisUrl, keyPrefix }, use) => {
    const selection = await startSelection({ redisUrl, keyPrefix });
    await use(selection);
    await selection.close();
  },
  watchOnly: async ({ selection, keyPrefix }, use) => {
    const settings = { keys: createKeys(keyPrefix), ...RETENTION };
    const { connection } = selection;
    const writers = {
      history: createHistoryWriter(connection, settings),
      window: createWindowWriter(connection, settings),
    };
    await use((where) => async (views) => {
      const applied = { group: 'test', partition: 0, nextOffset: 1n, epoch: connection.epoch() };
      const results = await writers[where].applyBatch({ events: views.map(toEvent), applied });
      const failed = results.find(({ kind }) => kind === 'failed');
      if (failed !== undefined) throw new Error(JSON.stringify(failed));
    });
  },
  watch: async ({ selection, keyPrefix }, use) => {
    const settings = { keys: createKeys(keyPrefix), ...RETENTION };
    const { connection } = selection;
    const writers = [createHistoryWriter(connection, settings), createWindowWriter(connection, settings)];
    await use(async (views) => {
      const events = views.map(toEvent);
      const applied = { group: 'test', partition: 0, nextOffset: 1n, epoch: connection.epoch() };
      await Promise.all(writers.map((writer) => writer.applyBatch({ events, applied })));
    });
  },
});
