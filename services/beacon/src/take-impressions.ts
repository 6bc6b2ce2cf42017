import { AppError, type ImpressionsAnswer } from '@adcap/contracts';
import { isRetryableBusError } from '@adcap/kafka-bus';
import { judgedBatch } from './domain/judge-batch.ts';
import type { Judgement } from './domain/judgement.ts';
import { RESERVATION_MARKS } from './domain/to-event.ts';
import type { BeaconMetrics } from './metrics.ts';
import type { PublishOnce, PublishOutcome } from './publish-once.ts';

/** Publishes what counts and says what became of each item; throws when it could not be stored, and claims nothing. */
export type TakeImpressions = (judgements: readonly Judgement[]) => Promise<ImpressionsAnswer>;

type Deps = { publishOnce: PublishOnce; metrics: BeaconMetrics };

const notStored = (error: unknown): unknown =>
  isRetryableBusError(error)
    ? new AppError('ADCAP_IMPRESSIONS_NOT_STORED', 'Nothing of this request is claimed: send it again.', {
        cause: error,
      })
    : error;

const countOf = (outcomes: readonly PublishOutcome[], outcome: PublishOutcome): number =>
  outcomes.filter((found) => found === outcome).length;

export const createTakeImpressions = ({ publishOnce, metrics }: Deps): TakeImpressions => {
  const { impressions, publishSeconds, reservations } = metrics;

  return async function takeImpressions(judgements) {
    const { events, ignored, rejected } = judgedBatch(judgements);
    const stopTimer = publishSeconds.startTimer();
    let outcomes: readonly PublishOutcome[];
    try {
      outcomes = events.length === 0 ? [] : await publishOnce(events);
    } catch (error) {
      stopTimer({ result: 'failed' });
      impressions.inc({ outcome: 'not_stored', reason: 'bus' }, events.length);
      throw notStored(error);
    }
    if (events.length > 0) stopTimer({ result: 'acknowledged' });

    const accepted = countOf(outcomes, 'accepted');
    const duplicates = countOf(outcomes, 'duplicate');
    impressions.inc({ outcome: 'accepted', reason: '' }, accepted);
    impressions.inc({ outcome: 'duplicate', reason: '' }, duplicates);
    for (const reason of ignored) impressions.inc({ outcome: 'ignored', reason });
    for (const { reason } of rejected) impressions.inc({ outcome: 'rejected', reason });
    for (const mark of RESERVATION_MARKS) {
      const marked = events.filter(({ marks }) => marks?.includes(mark) === true).length;
      reservations.inc({ mark }, marked);
    }
    return { accepted, duplicates, ignored: ignored.length, rejected };
  };
};
