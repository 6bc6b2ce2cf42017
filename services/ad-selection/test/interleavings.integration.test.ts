import fc from 'fast-check';
import { expect } from 'vitest';
import { DeviceTurns } from '../src/adapters/device-turns.ts';
import { aProgram } from './interleavings/program.arbitraries.ts';
import { Program } from './interleavings/run-program.ts';
import { test } from './interleavings/two-processes.ts';

/** `pnpm interleavings` runs ten thousand. */
const PROGRAMS = Number(process.env['ADCAP_TEST_INTERLEAVINGS'] ?? 500);
/** Programs under way: some wait until a break is over. */
const AT_ONCE = 12;
const LIMIT_MS = 900_000;

test(
  'random interleavings through two processes, with the default deadline: nothing is lost, nothing counts twice, no answer is open',
  async ({ pair }) => {
    const answers = new Map<string, number>();
    const note = (what: string) => void answers.set(what, (answers.get(what) ?? 0) + 1);
    // One step at a time, itself several requests at once: nobody waits for a core for a whole deadline.
    const turns = new DeviceTurns();
    const inTurn = (work: () => Promise<void>) => turns.take('step', work);
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        fc.assert(
          fc.asyncProperty(aProgram, (steps) => new Program(pair, { inTurn, note }).run(steps)),
          { numRuns: Math.ceil(PROGRAMS / AT_ONCE), seed: 4_000 + index, endOnFailure: true },
        ),
      ),
    );
    console.log(`answers: ${JSON.stringify(Object.fromEntries(answers))}`);
    // Both sources have been asked, and the processes were not so slow that most commits came too late.
    expect(answers.get('quotas')).toBeGreaterThan(PROGRAMS);
    expect(answers.get('history')).toBeGreaterThan(PROGRAMS / 20);
  },
  LIMIT_MS,
);

test('200 selections at once with one view left: one is granted it, and none is answered open', async ({
  pair,
}) => {
  const ad = { creativeId: 'c4' };
  const from = Date.now();
  const breakAt = from + 60_000;
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      pair.post(index % 2, '/v1/selections', {
        deviceId: 'many screens',
        sessionId: `s${index}`,
        breakId: 'b1',
        breakAt,
        slots: 1,
        candidates: [ad],
      }),
    ),
  );
  const told = answers.map(({ status, body }) => ({
    status,
    ...(body as { source: string; pod: unknown[]; reserved: boolean }),
  }));
  const isStoreAway = pair.stoodStill(from, Date.now());
  const odd = told.filter(({ status, source }) => status !== 200 || (source === 'open' && !isStoreAway));
  expect(odd).toEqual([]);
  expect(told.filter(({ pod, reserved }) => reserved && pod.length > 0)).toHaveLength(1);
  const { reservations } = await pair.store.inspect('many screens');
  expect(reservations).toHaveLength(1);
});
