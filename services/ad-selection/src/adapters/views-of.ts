import type { DegradedReason, Source } from '@adcap/contracts';
import type { DecisionReading, DecisionStore } from '@adcap/redis-windows';
import type { View } from '@adcap/rule-engine';
import type { Deadline } from './deadline.ts';

export type KnownViews = { views: readonly View[]; source: Source; reason: DegradedReason | undefined };

export type ViewsDeps = {
  store: Pick<DecisionStore, 'readHistory'>;
  decideFrom: 'quotas' | 'history';
  onFailure: (error: unknown, message: string) => void;
};

/**
 * Law 12: the window where it is complete, else the history. Failure policy: where the history cannot be had in time, the window as
 * it is, and said so.
 */
export const createViewsOf =
  ({ store, decideFrom, onFailure }: ViewsDeps) =>
  async (
    reading: DecisionReading,
    of: { deviceId: string; sinceMs: number; deadline: Deadline },
  ): Promise<KnownViews> => {
    const isComplete = reading.historyCount <= reading.windowCount;
    if (isComplete && decideFrom === 'quotas')
      return { views: reading.views, source: 'quotas', reason: undefined };
    try {
      const { deviceId, sinceMs, deadline } = of;
      const views = await deadline.race(store.readHistory({ deviceId, sinceMs }));
      return { views, source: 'history', reason: undefined };
    } catch (error) {
      onFailure(error, 'the history could not be read');
      return { views: reading.views, source: 'quotas', reason: 'history_incomplete' };
    }
  };
