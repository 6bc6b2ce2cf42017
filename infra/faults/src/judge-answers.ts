import { type Answered, isExact } from './answered.ts';
import type { Fault } from './redis-faults.ts';
import { createStopwatch, type Standstill } from './standstill.ts';

/** Instants of a run, epoch ms. */
export type Marks = {
  /** The fault was there. */
  onAt: number;
  /** It began to be taken away. */
  offAt: number;
  /** Redis itself worked again. */
  backAt: number;
};

/** A moment on the wire and on two clocks of one machine. */
const EDGE_MS = 20;
/** More would measure how busy the machine is: late commits of healthy seconds are not exact either. */
const IN_A_ROW = 5;
const RECOVERY_MS = 2_000;
/** How much of the time before the fault is shown beside it. */
export const HEALTHY_MS = 3_000;
const ENOUGH_OF_THE_RATE = 0.9;

const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

type Times = { p50Ms: number; p99Ms: number; maxMs: number };

const timesOf = (values: readonly number[]): Times => ({
  p50Ms: percentile(values, 0.5),
  p99Ms: percentile(values, 0.99),
  maxMs: percentile(values, 1),
});

/** Whether the newest answers are exact, all of them asked for after an instant. Cheap: it is asked under load. */
export const isExactNow = (answered: readonly Answered[], sinceMs: number): boolean => {
  const newest = answered.slice(-IN_A_ROW);
  return newest.length === IN_A_ROW && newest.every((one) => one.sentAt >= sinceMs && isExact(one));
};

/** When answers were exact again: the first of so many in a row that were asked for after an instant. */
const exactAgainAt = (answered: readonly Answered[], sinceMs: number): number | undefined => {
  const after = answered.filter(({ sentAt }) => sentAt >= sinceMs).toSorted((a, b) => a.sentAt - b.sentAt);
  let run = 0;
  for (const [index, one] of after.entries()) {
    run = isExact(one) ? run + 1 : 0;
    if (run === IN_A_ROW) return after[index - IN_A_ROW + 1]?.sentAt;
  }
  return undefined;
};

const some = (found: readonly Answered[], what: string): string[] => {
  const [one] = found;
  if (one === undefined) return [];
  const { status, source, reason, isReserved, problem } = one;
  const example = { status, source, reason, isReserved, ...(problem === '' ? {} : { problem }) };
  return [`${found.length} ${what}, such as ${JSON.stringify(example)}`];
};

/** Whether an answer claims what it cannot know or hold during the fault. */
const isLie = ({ source, isDegraded, isReserved }: Answered, hides: Fault['hides']): boolean => {
  if (!isDegraded || isReserved) return true;
  return hides === 'store' && source !== 'open';
};

export type Judgement = {
  decisions: number;
  openShare: number;
  reasons: Record<string, number>;
  /** The same between the return of Redis and exact answers. */
  reasonsAfter: Record<string, number>;
  /** From sending to the whole answer, during the fault. */
  times: Times;
  /** The same before it. */
  healthy: Times;
  /** By how much the generator itself was late: what this machine does to everybody on it. */
  lateness: Times;
  /** How long the machine, or at least the load, stood still in the whole run; in no other time. */
  standstillMs: number;
  recoveredMs: number | undefined;
  wrong: string[];
};

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

const countReasons = (answered: readonly Answered[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { reason } of answered) counts[reason || 'none'] = (counts[reason || 'none'] ?? 0) + 1;
  return counts;
};

type Run = {
  answered: readonly Answered[];
  standstills: readonly Standstill[];
  marks: Marks;
  hides: Fault['hides'];
  rate: number;
};

/** Everything that must not be among the answers of a run. */
const wrongAnswers = ({ answered, marks: { onAt, offAt }, hides }: Run): string[] => {
  const surelyDuring = answered.filter(({ sentAt, doneAt }) => sentAt >= onAt + EDGE_MS && doneAt < offAt);
  return [
    ...some(
      answered.filter(({ status, problem }) => status !== 200 || problem !== ''),
      'answers that are none',
    ),
    ...some(
      answered.filter(({ isBlockBroken }) => isBlockBroken),
      'answers that allow a BLOCK',
    ),
    ...some(
      surelyDuring.filter((one) => isLie(one, hides)),
      'answers that look healthy during the fault',
    ),
    ...some(
      answered.filter(({ source, isReserved }) => source === 'open' && isReserved),
      'open answers that say reserved',
    ),
  ];
};

/** What the answers of one run say about one fault: the figures, and everything that must not be. */
export const judgeAnswers = (run: Run): Judgement => {
  const { answered, standstills, rate } = run;
  const { onAt, offAt, backAt } = run.marks;
  const span = createStopwatch(standstills);
  const before = answered.filter(({ sentAt, doneAt }) => sentAt >= onAt - HEALTHY_MS && doneAt < onAt);
  const during = answered.filter(({ sentAt }) => sentAt >= onAt && sentAt < offAt);
  const exactAt = exactAgainAt(answered, offAt);
  const recoveredMs = exactAt === undefined ? undefined : Math.max(0, span(backAt, exactAt));
  const wrong = wrongAnswers(run);
  if (during.length < (span(onAt, offAt) / 1_000) * rate * ENOUGH_OF_THE_RATE)
    wrong.push('the load did not keep its rate');
  if (recoveredMs === undefined || recoveredMs > RECOVERY_MS)
    wrong.push(
      `exact again ${recoveredMs === undefined ? 'never' : `only after ${Math.round(recoveredMs)} ms`}`,
    );
  return {
    decisions: during.length,
    openShare: share(during.filter(({ source }) => source === 'open').length, during.length),
    reasons: countReasons(during),
    reasonsAfter: countReasons(
      answered.filter(({ sentAt }) => sentAt >= backAt && sentAt < (exactAt ?? Number.POSITIVE_INFINITY)),
    ),
    times: timesOf(during.map(({ sentAt, doneAt }) => span(sentAt, doneAt))),
    healthy: timesOf(before.map(({ sentAt, doneAt }) => span(sentAt, doneAt))),
    lateness: timesOf(during.map(({ dueAt, sentAt }) => sentAt - dueAt)),
    standstillMs: standstills.reduce((sum, { from, to }) => sum + to - from, 0),
    recoveredMs,
    wrong,
  };
};
