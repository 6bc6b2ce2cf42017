import { setTimeout as delay } from 'node:timers/promises';
import {
  type CandidateAnswer,
  type ImpressionsAnswer,
  impressionsAnswerSchema,
  selectionAnswerSchema,
} from '@adcap/contracts';
import { z } from 'zod';
import type { Stack } from '../open-stack.ts';
import { say } from '../say.ts';
import { urlOf } from '../services.ts';
import { createDayClock, type DayClock } from './day-clock.ts';
import { type DecisionRow, decisionTable } from './decision-table.ts';
import { type ExpectedDecision, type SampleBreak, SCENES, type Scene } from './scenes.ts';

const MINUTE_MS = 60_000;
const PATIENCE_MS = 30_000;
const POLL_MS = 50;
/**
 * An age is a few milliseconds older when it arrives than when it was written, so an impression lies a little after the minute
 * that it is told for. Breaks are asked about a little later still.
 */
const ASKED_LATER_MS = 10_000;
const UNIDENTIFIED = '[IFA]';

type Day = { clock: DayClock; beacon: string; selection: string; operatorToken: string; run: string };

const post = async (url: string, body: unknown): Promise<unknown> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
};

/** Each run has devices of its own, so that the day can be replayed on a running stack. */
const deviceOf = (scene: Scene, day: Day): string =>
  scene.device === UNIDENTIFIED ? UNIDENTIFIED : `${scene.device}-${day.run}`;

const tell = async (scene: Scene, day: Day): Promise<ImpressionsAnswer | undefined> => {
  if (scene.watched.length === 0) return undefined;
  const impressions = scene.watched.map(({ ad, at }, index) => ({
    ...ad,
    deviceId: deviceOf(scene, day),
    impressionId: `${scene.device}-${day.run}-${index}`,
    ageMs: Date.now() - day.clock.instantOf(at),
  }));
  return impressionsAnswerSchema.parse(await post(`${day.beacon}/v1/impressions`, { impressions }));
};

const deviceReportSchema = z.object({
  history: z.array(z.unknown()),
  window: z.object({ count: z.number() }),
});

/** Waits until both consumers have written what was told. */
const untilApplied = async (scene: Scene, day: Day): Promise<void> => {
  const device = deviceOf(scene, day);
  if (device === UNIDENTIFIED) return;
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- asked again only after an answer
    const response = await fetch(`${day.selection}/v1/devices/${device}`, {
      headers: { authorization: `Bearer ${day.operatorToken}` },
    });
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { history, window } = deviceReportSchema.parse(await response.json());
    if (history.length >= scene.watched.length && window.count >= scene.watched.length) return;
    if (performance.now() > deadline)
      throw new Error(`the impressions of ${device} were not applied within ${PATIENCE_MS / 1_000} s`);
    // oxlint-disable-next-line no-await-in-loop -- as above
    await delay(POLL_MS);
  }
};

const isAsDocumented = (answer: CandidateAnswer, expected: ExpectedDecision, clock: DayClock): boolean =>
  answer.outcome === expected.outcome &&
  answer.remaining === expected.remaining &&
  answer.blockedBy?.ruleId === expected.ruleId &&
  (expected.nextAllowed === undefined ||
    (answer.nextAllowedAt !== undefined && clock.timeOf(answer.nextAllowedAt) === expected.nextAllowed));

const because = ({ blockedBy }: CandidateAnswer): string =>
  blockedBy === undefined
    ? '–'
    : `${blockedBy.ruleId} (${blockedBy.used} used, ${blockedBy.reserved} reserved, of ${blockedBy.max})`;

const rowOf = (
  answer: CandidateAnswer,
  expected: ExpectedDecision,
  shown: { breakAt: string; clock: DayClock },
): DecisionRow => ({
  breakAt: shown.breakAt,
  candidate: answer.creativeId ?? '–',
  decision: answer.outcome,
  left: answer.remaining === null ? 'no cap' : String(answer.remaining),
  because: because(answer),
  next: answer.nextAllowedAt === undefined ? '–' : shown.clock.timeOf(answer.nextAllowedAt),
  isAsDocumented: isAsDocumented(answer, expected, shown.clock),
});

const askBreak = async (scene: Scene, asked: SampleBreak, day: Day): Promise<DecisionRow[]> => {
  const breakAt =
    typeof asked.at === 'string'
      ? day.clock.instantOf(asked.at) + ASKED_LATER_MS
      : Date.now() + asked.at.inMinutes * MINUTE_MS;
  const answered = await post(`${day.selection}/v1/selections`, {
    deviceId: deviceOf(scene, day),
    breakId: `${scene.device}-${day.run}-${breakAt}`,
    breakAt,
    slots: asked.slots ?? 0,
    candidates: asked.candidates.map(({ ad }) => ad),
  });
  const { candidates } = selectionAnswerSchema.parse(answered);
  const shown = { breakAt: day.clock.timeOf(breakAt), clock: day.clock };
  return asked.candidates.flatMap(({ expect }, index) => {
    const answer = candidates[index];
    return answer === undefined ? [] : rowOf(answer, expect, shown);
  });
};

const numbers = ({ accepted, duplicates, ignored }: ImpressionsAnswer): string =>
  `${accepted} accepted, ${duplicates} duplicates, ${ignored} ignored`;

const playScene = async (scene: Scene, day: Day): Promise<boolean> => {
  process.stdout.write(`\n${scene.title}\n`);
  for (let telling = 0; telling < (scene.tellings ?? 1); telling += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a repeat comes after what it repeats
    const told = await tell(scene, day);
    if (told !== undefined) {
      const times = scene.watched.map(({ ad, at }) => `${at} ${ad.creativeId}`).join(', ');
      process.stdout.write(`    ${deviceOf(scene, day)} watched ${times}: ${numbers(told)}\n`);
    }
  }
  await untilApplied(scene, day);
  const rows: DecisionRow[] = [];
  for (const asked of scene.breaks) {
    // oxlint-disable-next-line no-await-in-loop -- breaks play one after the other
    rows.push(...(await askBreak(scene, asked, day)));
  }
  process.stdout.write(`${decisionTable(rows)}\n`);
  return rows.length > 0 && rows.every((row) => row.isAsDocumented);
};

/**
 * Plays the sample day through the public HTTP interfaces, with ages instead of a false clock, and prints every decision with its
 * reason. True when each is the documented one.
 */
export const runSampleDay = async ({ env, tokens }: Pick<Stack, 'env' | 'tokens'>): Promise<boolean> => {
  const day = {
    clock: createDayClock(Date.now()),
    beacon: urlOf('beacon', env),
    selection: urlOf('ad-selection', env),
    operatorToken: tokens.operator,
    run: Date.now().toString(36),
  };
  say('the sample day (its 09:00 was two hours ago)');
  const verdicts: boolean[] = [];
  // oxlint-disable-next-line no-await-in-loop -- scenes are read one after the other
  for (const scene of SCENES) verdicts.push(await playScene(scene, day));
  process.stdout.write('\n');
  return verdicts.every(Boolean);
};
