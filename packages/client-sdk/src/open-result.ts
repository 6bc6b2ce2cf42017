import type { CandidateAnswer, SelectionRequestInput } from '@adcap/contracts';
import { fillOpenly } from './fill-openly.ts';
import type { ClientFault, SelectionResult } from './selection-result.ts';

/** An instant of the request as epoch ms; what the service would have refused becomes now. */
const toMs = (instant: number | string, nowMs: number): number => {
  const ms = typeof instant === 'number' ? instant : Date.parse(instant);
  return Number.isFinite(ms) ? ms : nowMs;
};

/**
 * Law 11 on the caller's side: everything is allowed, and it is marked. The rules are out of reach here, so a BLOCK
 * cannot be kept: a caller that must keep one gives up the break instead.
 */
export const openResult = (
  request: SelectionRequestInput,
  { reason, ...clientError }: ClientFault,
  nowMs: number,
): SelectionResult => {
  const { pod, ...emptied } = fillOpenly(request);
  const placed = new Set(pod.map(({ index }) => index));
  const isFilling = pod.length + emptied.unfilled > 0;
  const outcomeOf = (index: number): CandidateAnswer['outcome'] => {
    if (placed.has(index)) return 'placed';
    return isFilling ? 'noSlot' : 'allowed';
  };
  return {
    breakId: request.breakId,
    breakAt: toMs(request.breakAt, nowMs),
    serverTime: nowMs,
    source: 'open',
    degraded: true,
    degradedReason: reason,
    reserved: false,
    rulesVersion: null,
    asOf: null,
    candidates: request.candidates.map(({ creativeId }, index) => ({
      index,
      creativeId,
      outcome: outcomeOf(index),
      allowed: true,
      remaining: null,
    })),
    pod,
    ...emptied,
    clientError,
  };
};
