import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '@adcap/testkit/servers';
import type { Answered } from './answered.ts';
import { compareDevices, type Difference, seedDevices } from './devices.ts';
import { HEALTHY_MS, isExactNow, type Judgement, judgeAnswers, type Marks } from './judge-answers.ts';
import { judgeMemory } from './judge-memory.ts';
import { type Load, startLoad } from './load.ts';
import { type MemorySample, readMetric, watchMemory } from './memory-watch.ts';
import type { Scene } from './open-scene.ts';
import type { Fault } from './redis-faults.ts';

const DEVICES = 500;
/** Long after it is a failure, so that the report can say how late it was. */
const RECOVERY_PATIENCE_MS = 60_000;
/** So that answers after the return are looked at as well. */
const AFTERWARDS_MS = 1_000;
/** Commits whose answers came late are taken back after their decisions were answered. */
const SETTLE_MS = 10_000;
const SETTLE_EVERY_MS = 250;
/** No reservation of a run may expire before it was compared. */
const SPARE_MS = 300_000;
const UNFORESEEN = /unhandled ?rejection|uncaught ?exception|"level":"fatal"/i;

export type FaultReport = Omit<Judgement, 'wrong'> & {
  name: string;
  memory: { samples: readonly MemorySample[]; rssStartBytes: number; rssEndBytes: number };
  difference: Difference;
  wrong: string[];
};

const nowMs = (): number => performance.timeOrigin + performance.now();

const untilExact = async (load: Load, sinceMs: number, patienceMs: number): Promise<void> => {
  const exact = waitFor(() => isExactNow(load.answered, sinceMs), {
    what: 'exact answers',
    timeoutMs: patienceMs,
  });
  await Promise.race([load.failed, exact]);
};

/** The load with the fault in its middle. */
const underLoad = async (
  scene: Scene,
  fault: Fault,
  { load, seconds, signal }: { load: Load; seconds: number; signal: AbortSignal },
): Promise<Marks> => {
  await untilExact(load, 0, RECOVERY_PATIENCE_MS);
  await delay(HEALTHY_MS, undefined, { signal });
  await fault.begin(scene.hands);
  const onAt = nowMs();
  await Promise.race([load.failed, delay(seconds * 1_000, undefined, { signal })]);
  const offAt = nowMs();
  await fault.end(scene.hands);
  const backAt = nowMs();
  // What comes of it is judged from the answers.
  await untilExact(load, offAt, RECOVERY_PATIENCE_MS).catch(() => undefined);
  await delay(AFTERWARDS_MS, undefined, { signal });
  await load.stop();
  return { onAt, offAt, backAt };
};

/** What Redis holds against what was said, once nothing is under way any more. */
const settledDifference = async (
  { selection }: Scene,
  answered: readonly Answered[],
  at: number,
): Promise<Difference> => {
  const endsAt = performance.now() + SETTLE_MS;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- looked at again only after a look
    const difference = await compareDevices(selection, answered, at);
    const found = difference.phantoms.length + difference.lost.length + difference.miscounted.length;
    if (found === 0 || performance.now() > endsAt) return difference;
    // oxlint-disable-next-line no-await-in-loop -- as above
    await delay(SETTLE_EVERY_MS);
  }
};

const unforeseen = async ({ name, logFile }: Scene['services'][number]): Promise<string[]> => {
  const lines = (await readFile(logFile, 'utf8')).split('\n').filter((line) => UNFORESEEN.test(line));
  return lines.length === 0
    ? []
    : [`${name} has logged ${lines.length} unforeseen errors, such as ${lines[0]}`];
};

const listed = (found: readonly string[], what: string): string[] =>
  found.length === 0 ? [] : [`${found.length} ${what}, such as ${found[0]}`];

/** Runs one fault from a healthy start to exact answers. */
export const runFault = async (
  scene: Scene,
  fault: Fault,
  { seconds, rate, signal }: { seconds: number; rate: number; signal: AbortSignal },
): Promise<FaultReport> => {
  const { selection, services } = scene;
  const pids = services.map(({ pid }) => pid());
  const devicePrefix = `${fault.name}-${Math.round(nowMs())}-`;
  const deviceIds = Array.from({ length: DEVICES }, (_, index) => `${devicePrefix}${index}`);
  await seedDevices(scene, deviceIds, Date.now());
  await fault.prepare?.(scene.hands, seconds);
  const breakAt = Date.now() + seconds * 1_000 + SPARE_MS;

  using memory = watchMemory(selection.url);
  await using load = startLoad({ url: selection.url, rate, devices: DEVICES, devicePrefix, breakAt });
  const marks = await underLoad(scene, fault, { load, seconds, signal });
  const { wrong, ...judgement } = judgeAnswers({
    answered: load.answered,
    standstills: load.standstills,
    marks,
    hides: fault.hides,
    rate,
  });
  const difference = await settledDifference(scene, load.answered, breakAt);
  const samples = memory.samples.filter(({ at }) => at >= marks.onAt && at < marks.offAt);
  const inFlight = await readMetric(selection.url, 'adcap_ad_selection_in_flight');
  return {
    name: fault.name,
    ...judgement,
    difference,
    memory: {
      samples,
      rssStartBytes: samples[0]?.rssBytes ?? Number.NaN,
      rssEndBytes: samples.at(-1)?.rssBytes ?? Number.NaN,
    },
    wrong: [
      ...wrong,
      ...listed(difference.phantoms, 'phantom reservations'),
      ...listed(difference.lost, 'lost reservations'),
      ...listed(difference.miscounted, 'devices with other used values'),
      ...judgeMemory(samples, seconds),
      ...(await Promise.all(services.map(unforeseen))).flat(),
      ...services
        .filter(({ pid }, index) => pid() !== pids[index])
        .map(({ name }) => `${name} was started again`),
      ...(inFlight === 0 ? [] : [`${inFlight} decisions are still in flight`]),
    ],
  };
};
