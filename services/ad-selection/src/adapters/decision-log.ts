import { type SelectionAnswer, topicName } from '@adcap/contracts';
import type { Producer } from '@adcap/kafka-bus';
import type { Ask } from '../domain/ask.ts';

/** Notes what was decided, off the answer's path. */
export type DecisionLog = (ask: Ask, answer: SelectionAnswer) => void;

export type DecisionLogOptions = {
  topicPrefix: string;
  /** The share of decisions that is noted, 0 to 1. */
  sample: number;
  random: () => number;
  onDropped: () => void;
};

const recordOf = (ask: Ask, answer: SelectionAnswer) => ({
  type: 'DECISION',
  v: 1,
  deviceId: ask.deviceId,
  sessionId: ask.sessionId,
  breakId: answer.breakId,
  round: ask.round,
  breakAt: answer.breakAt,
  decidedAt: answer.serverTime,
  source: answer.source,
  degradedReason: answer.degradedReason,
  rulesVersion: answer.rulesVersion,
  asOf: answer.asOf,
  reserved: answer.reserved,
  slots: ask.slots.length,
  unfilled: answer.unfilled,
  emptySlots: answer.emptySlots,
  placed: answer.pod.map(({ slot, creativeId }) => ({ slot, creativeId })),
  blocked: answer.candidates
    .filter(({ blockedBy }) => blockedBy !== undefined)
    .map(({ creativeId, outcome, blockedBy }) => ({ creativeId, outcome, ruleId: blockedBy?.ruleId })),
});

/**
 * Failure policy: a record that cannot be sent is dropped and counted; nothing waits for it and nothing fails with it.
 */
export const createDecisionLog = (
  producer: Pick<Producer, 'send'>,
  options: DecisionLogOptions,
): DecisionLog => {
  const topic = topicName('decisions', options.topicPrefix);
  return (ask, answer) => {
    if (ask.deviceId === undefined || options.random() >= options.sample) return;
    const value = JSON.stringify(recordOf(ask, answer));
    producer.send(topic, [{ key: ask.deviceId, value }]).catch(options.onDropped);
  };
};
