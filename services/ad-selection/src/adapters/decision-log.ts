import { type DecisionRecord, type PodPlace, type SelectionAnswer, topicName } from '@adcap/contracts';
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

/**
 * What took a place, with the values that it is counted under: who looks back can ask for it again under other rules. A place of
 * an earlier round (or of an ask that came before with other candidates) is only named; its own record has the rest.
 */
const placedOf = (
  ask: Ask,
  { slot, index, creativeId }: PodPlace,
): DecisionRecord['placed'][number] & { slot: number } => {
  const entry = ask.entries.find((one) => one.index === index);
  if (entry?.kind !== 'ad' || entry.candidate.creativeId !== creativeId)
    return { slot, creativeId, isKept: true };
  const { campaignId, brandId, industryIds, exempt } = entry.candidate;
  return { slot, creativeId, campaignId, brandId, industryIds, ...(exempt ? { exempt } : {}) };
};

/** How many more could have been shown, had there been slots. */
const spareOf = ({ candidates }: SelectionAnswer): number =>
  candidates.filter(({ outcome }) => outcome === 'noSlot').length;

const recordOf = (ask: Ask, answer: SelectionAnswer): DecisionRecord & Record<string, unknown> => ({
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
  placed: answer.pod.map((place) => placedOf(ask, place)),
  spare: spareOf(answer),
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
