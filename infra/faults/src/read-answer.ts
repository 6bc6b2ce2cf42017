import type { Answered } from './answered.ts';
import { BLOCKED_CREATIVE } from './asking.ts';

type Answer = {
  source: string;
  degraded: boolean;
  degradedReason?: string;
  reserved: boolean;
  candidates: { creativeId: string; allowed: boolean; outcome: string }[];
  pod: { creativeId: string; reservationId: string }[];
};

type Said = Pick<
  Answered,
  'source' | 'isDegraded' | 'reason' | 'isReserved' | 'isBlockBroken' | 'reservationIds' | 'problem'
>;

export const SAID_NOTHING: Said = {
  source: '',
  isDegraded: false,
  reason: '',
  isReserved: false,
  isBlockBroken: false,
  reservationIds: [],
  problem: '',
};

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' &&
  value !== null &&
  'source' in value &&
  'degraded' in value &&
  'reserved' in value &&
  'candidates' in value &&
  Array.isArray(value.candidates) &&
  'pod' in value &&
  Array.isArray(value.pod);

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** What the body of a decision claims; a body that is none says so in `problem`. */
export const readAnswer = (text: string): Said => {
  const answer = parse(text);
  if (!isAnswer(answer)) return { ...SAID_NOTHING, problem: `no answer: ${text.slice(0, 200)}` };
  const { candidates, pod } = answer;
  const forbidden = candidates.filter(({ creativeId }) => creativeId === BLOCKED_CREATIVE);
  return {
    source: answer.source,
    isDegraded: answer.degraded,
    reason: answer.degradedReason ?? '',
    isReserved: answer.reserved,
    isBlockBroken:
      forbidden.length !== 1 ||
      forbidden.some(({ allowed, outcome }) => allowed || outcome !== 'capped') ||
      pod.some(({ creativeId }) => creativeId === BLOCKED_CREATIVE),
    reservationIds: pod.map(({ reservationId }) => reservationId),
    problem: '',
  };
};
