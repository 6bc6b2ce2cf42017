import { describe, expect, test } from 'vitest';
import type { Answered } from '../src/answered.ts';
import { judgeAnswers } from '../src/judge-answers.ts';
import { judgeMemory } from '../src/judge-memory.ts';

const RATE = 100;
const MARKS = { onAt: 10_000, offAt: 20_000, backAt: 20_000 };

const anAnswer = (sentAt: number, more: Partial<Answered> = {}): Answered => ({
  deviceId: 'd',
  breakAt: sentAt,
  dueAt: sentAt,
  sentAt,
  doneAt: sentAt + 2,
  status: 200,
  source: 'quotas',
  isDegraded: false,
  reason: '',
  isReserved: true,
  isBlockBroken: false,
  reservationIds: [],
  problem: '',
  ...more,
});
const open: Partial<Answered> = { source: 'open', isDegraded: true, reason: 'deadline', isReserved: false };
const unheld: Partial<Answered> = { isDegraded: true, reason: 'store_error', isReserved: false };

/** A run at the rate: exact, then as the fault makes it, then exact from an instant on. */
const aRun = (during: Partial<Answered>, exactFromMs = MARKS.backAt): Answered[] =>
  Array.from({ length: 30 * RATE }, (_, index) => {
    const sentAt = (index * 1_000) / RATE;
    return anAnswer(sentAt, sentAt >= MARKS.onAt && sentAt < exactFromMs ? during : {});
  });

const judge = (answered: readonly Answered[], hides: 'store' | 'writes' = 'store') =>
  judgeAnswers({ answered, standstills: [], marks: MARKS, hides, rate: RATE });

describe('judgeAnswers', () => {
  test('finds nothing wrong with a fault that was marked throughout', () => {
    expect(judge(aRun(open))).toMatchObject({
      decisions: 1_000,
      openShare: 1,
      reasons: { deadline: 1_000 },
      times: { p50Ms: 2, p99Ms: 2, maxMs: 2 },
      recoveredMs: 0,
      wrong: [],
    });
    expect(judge(aRun(unheld), 'writes')).toMatchObject({ openShare: 0, wrong: [] });
  });

  test.for<[what: string, answer: Partial<Answered>, complaint: string]>([
    ['no answer', { status: 503 }, '1 answers that are none'],
    ['a body that is none', { problem: 'no answer' }, '1 answers that are none'],
    ['a BLOCK that is allowed', { isBlockBroken: true }, '1 answers that allow a BLOCK'],
    ['a healthy look', { source: 'quotas', isDegraded: false }, '1 answers that look healthy'],
    ['quotas of a store that is hidden', { source: 'quotas' }, '1 answers that look healthy'],
    ['a promise', { isReserved: true }, '1 open answers that say reserved'],
  ])('notices %s among the answers', ([, answer, complaint]) => {
    const { wrong } = judge([...aRun(open), anAnswer(15_000, { ...open, ...answer })]);
    expect(wrong.join('\n')).toContain(complaint);
  });

  test('a write that is hidden may be decided exactly and not be promised', () => {
    const { wrong } = judge([...aRun(unheld), anAnswer(15_000)], 'writes');
    expect(wrong.join('\n')).toContain('1 answers that look healthy');
  });

  test('what was under way at an edge may be exact', () => {
    const atTheEdges = [anAnswer(MARKS.onAt + 1), anAnswer(MARKS.offAt - 1)];
    expect(judge([...aRun(open), ...atTheEdges]).wrong).toEqual([]);
  });

  test('says how long exact answers took to return, and when that was too long', () => {
    expect(judge(aRun(open, 21_500))).toMatchObject({ recoveredMs: 1_500, wrong: [] });
    expect(judge(aRun(open, 22_500))).toMatchObject({
      recoveredMs: 2_500,
      wrong: ['exact again only after 2500 ms'],
    });
    expect(judge(aRun(open, 30_000))).toMatchObject({ recoveredMs: undefined, wrong: ['exact again never'] });
  });

  test('a load that did not keep its rate proves nothing', () => {
    const { wrong } = judge(aRun(open).filter((_, index) => index % 2 === 0));
    expect(wrong).toEqual(['the load did not keep its rate']);
  });
});

describe('a machine that stands still', () => {
  const standstills = [{ from: 15_000, to: 25_000 }];
  const awake = aRun(open, 26_000).filter(({ sentAt }) => sentAt <= 15_000 || sentAt >= 25_000);

  test('is in no time, and no load is expected meanwhile', () => {
    const late = anAnswer(14_999, { ...open, doneAt: 25_001 });
    const marks = { onAt: 10_000, offAt: 25_500, backAt: 25_500 };
    const judged = judgeAnswers({
      answered: [...awake, late],
      standstills,
      marks,
      hides: 'store',
      rate: RATE,
    });
    expect(judged).toMatchObject({ times: { maxMs: 2 }, standstillMs: 10_000, recoveredMs: 500, wrong: [] });
  });

  test('nor in how long exact answers took to return', () => {
    const marks = { onAt: 10_000, offAt: 14_900, backAt: 14_900 };
    const judged = judgeAnswers({ answered: awake, standstills, marks, hides: 'store', rate: RATE });
    expect(judged).toMatchObject({ recoveredMs: 1_100, wrong: [] });
  });
});

describe('judgeMemory', () => {
  const MIB = 1_048_576;
  const growing = (rssMib: number, heapMib: number) =>
    Array.from({ length: 40 }, (_, at) => ({
      at,
      rssBytes: (200 + rssMib * at) * MIB,
      heapBytes: (60 + heapMib * at) * MIB,
    }));

  test('takes what is flat and complains about what grows', () => {
    expect(judgeMemory(growing(0, 0), 80)).toEqual([]);
    expect(judgeMemory(growing(3, 0), 80)).toEqual([expect.stringContaining('resident memory grew')]);
    expect(judgeMemory(growing(0, 2), 80)).toEqual([expect.stringContaining('used heap grew')]);
  });

  test('does not judge a short fault, and is not content with no figures', () => {
    expect(judgeMemory(growing(100, 100), 5)).toEqual([]);
    expect(judgeMemory([], 80)).toEqual(['the service told nothing of its memory']);
    const untold = growing(0, 0).map((sample) => ({ ...sample, rssBytes: Number.NaN }));
    expect(judgeMemory(untold, 80)).toHaveLength(1);
  });
});
