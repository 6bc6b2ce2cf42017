import { type Backoff, backoffDelayMs, pause } from './backoff.ts';
import type { BatchEvent, BatchHandler } from './batch-handler.ts';
import type { RawMessage } from './bus-message.ts';
import type { BusLogger, Clock } from './bus-settings.ts';
import type { DeadLetter, DeadLetterSettings } from './dead-letter.ts';
import { toDeadLetterMessage } from './dead-letter.ts';
import type { Outcome } from './outcome.ts';
import type { ProgressBook } from './progress.ts';

/** Called as things happen; every label is from a closed set but `reason`, which is the handler's. */
export type ConsumerMetrics = {
  batchApplied?(batch: { partition: number; events: number; durationMs: number }): void;
  batchRetried?(reason: string): void;
  eventDropped?(reason: string): void;
  messageUndecodable?(reason: string): void;
  messageDeadLettered?(reason: string): void;
};

export type BatchRunnerOptions<Event> = {
  topic: string;
  groupId: string;
  handler: BatchHandler<Event>;
  deadLetter: DeadLetterSettings;
  backoff: Backoff;
  random: () => number;
  clock: Clock;
  logger: BusLogger;
  metrics: ConsumerMetrics;
  progress: ProgressBook;
};

/** A stretch of a partition as it was fetched. */
export type Stretch = {
  partition: number;
  messages: readonly RawMessage[];
  fromOffset: bigint;
  nextOffset: bigint;
  epoch: number;
};

/** Ends the attempts: the partition went to another consumer, or this one is being stopped. */
type Attempts = { signal: AbortSignal; isCurrent: () => boolean };

/** Applies stretches with the handler until they work, and sets aside what never can. */
export class BatchRunner<Event> {
  readonly #options: BatchRunnerOptions<Event>;

  constructor(options: BatchRunnerOptions<Event>) {
    this.#options = options;
  }

  /**
   * True when the stretch is done and its offset may be committed; false when it was given up. In order:
   * 1. the handler applies the events: a crash after it means that they are applied again;
   * 2. dead letters are acknowledged: a crash after it means that they are applied and written again;
   * and only then does the caller commit. Nothing is lost after any of them.
   */
  async run(stretch: Stretch, attempts: Attempts): Promise<boolean> {
    const { events, sources, undecodable } = this.#decode(stretch);
    const startedAtMs = this.#options.clock.now();
    const applied = await this.#apply(stretch, events, attempts);
    if (applied === undefined) return false;
    const letters = [...undecodable, ...this.#letters(applied.outcomes, sources)];
    if (!(await this.#setAside(letters, applied.attempts, attempts))) return false;
    const { metrics, clock } = this.#options;
    metrics.batchApplied?.({
      partition: stretch.partition,
      events: events.length,
      durationMs: clock.now() - startedAtMs,
    });
    return true;
  }

  #decode({ messages }: Stretch): {
    events: BatchEvent<Event>[];
    sources: RawMessage[];
    undecodable: DeadLetter[];
  } {
    const { handler, metrics, deadLetter } = this.#options;
    const events: BatchEvent<Event>[] = [];
    const sources: RawMessage[] = [];
    const undecodable: DeadLetter[] = [];
    for (const message of messages) {
      const decoded = decodeSafely(handler, message);
      if (decoded.ok) {
        events.push({ offset: message.offset, timestampMs: message.timestampMs, event: decoded.event });
        sources.push(message);
        continue;
      }
      metrics.messageUndecodable?.(decoded.reason);
      if (deadLetter.undecodable) {
        undecodable.push({ message, step: 'decode', reason: decoded.reason, cause: decoded.cause });
      }
    }
    return { events, sources, undecodable };
  }

  async #apply(
    stretch: Stretch,
    events: readonly BatchEvent<Event>[],
    { signal, isCurrent }: Attempts,
  ): Promise<{ outcomes: readonly Outcome[]; attempts: number } | undefined> {
    const { handler, topic, backoff, random, metrics, logger } = this.#options;
    const { partition, fromOffset, nextOffset, epoch } = stretch;
    for (let attempt = 1; !signal.aborted && isCurrent(); attempt += 1) {
      const outcomes = await this.#watched(stretch, attempt, () =>
        handler.applyBatch({ topic, partition, events, fromOffset, nextOffset, epoch }),
      );
      if (!isCurrent()) return undefined;
      if (outcomes.length !== events.length) {
        throw new Error(`${handler.name} answered ${outcomes.length} outcomes for ${events.length} events`);
      }
      const again = outcomes.find((outcome) => outcome.kind === 'retry');
      if (again === undefined) return { outcomes, attempts: attempt };
      metrics.batchRetried?.(again.reason);
      if (attempt === 1) {
        logger.warn(
          { err: again.cause, reason: again.reason, partition },
          'a batch could not be applied yet',
        );
      }
      await pause(backoffDelayMs(attempt, backoff, random), signal);
    }
    return undefined;
  }

  async #watched<Result>(stretch: Stretch, attempt: number, work: () => Promise<Result>): Promise<Result> {
    const { progress, clock } = this.#options;
    const nowMs = clock.now();
    progress.noteAttempt(stretch.partition, attempt, {
      nowMs,
      oldestTimestampMs: stretch.messages[0]?.timestampMs ?? nowMs,
    });
    try {
      return await work();
    } finally {
      progress.noteAttemptEnd(stretch.partition);
    }
  }

  #letters(outcomes: readonly Outcome[], sources: readonly RawMessage[]): DeadLetter[] {
    const { handler, metrics } = this.#options;
    return outcomes.flatMap((outcome, index) => {
      if (outcome.kind === 'drop') metrics.eventDropped?.(outcome.reason);
      const message = sources[index];
      if (outcome.kind !== 'deadLetter' || message === undefined) return [];
      return [{ message, step: handler.name, reason: outcome.reason, cause: outcome.cause }];
    });
  }

  async #setAside(letters: readonly DeadLetter[], attempts: number, { signal }: Attempts): Promise<boolean> {
    if (letters.length === 0) return true;
    const { topic, groupId, deadLetter, clock, backoff, random, logger, metrics } = this.#options;
    const origin = { topic, groupId, attempts, nowMs: clock.now() };
    const messages = letters.map((letter) => toDeadLetterMessage(letter, origin));
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        await deadLetter.producer.send(deadLetter.topic, messages);
        for (const letter of letters) metrics.messageDeadLettered?.(letter.reason);
        return true;
      } catch (error) {
        if (attempt === 1)
          logger.warn({ err: error, topic: deadLetter.topic }, 'dead letters cannot be written yet');
        await pause(backoffDelayMs(attempt, backoff, random), signal);
      }
    }
    return false;
  }
}

const decodeSafely = <Event>(
  handler: BatchHandler<Event>,
  message: RawMessage,
): ReturnType<typeof handler.decode> => {
  try {
    return handler.decode(message);
  } catch (cause) {
    return { ok: false, reason: 'decode_threw', cause };
  }
};
