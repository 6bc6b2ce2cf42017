import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Deadline, DeadlineExceeded } from '../../src/adapters/deadline.ts';

const never = (): Promise<never> => new Promise<never>(() => undefined);
const busyFor = (spanMs: number): void => {
  const endsAt = performance.now() + spanMs;
  while (performance.now() < endsAt);
};

describe('a deadline', () => {
  test('gives the outcome or the error of work that comes in time', async () => {
    const deadline = new Deadline(1_000);
    expect(await deadline.race(Promise.resolve(7))).toBe(7);
    await expect(deadline.race(Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  test('is over for work that does not, which goes on', async () => {
    const work = Promise.withResolvers<number>();
    await expect(new Deadline(5).race(work.promise)).rejects.toBeInstanceOf(DeadlineExceeded);
    work.resolve(7);
    expect(await work.promise).toBe(7);
  });

  test('is shared by the steps inside it', async () => {
    const deadline = new Deadline(20);
    await expect(deadline.race(never())).rejects.toBeInstanceOf(DeadlineExceeded);
    // Timers count whole milliseconds, from a clock that is read once a turn.
    expect(deadline.remainingMs()).toBeLessThan(1);
  });

  test('takes what has arrived while the process was busy', async () => {
    const work = Promise.withResolvers<number>();
    const raced = new Deadline(5).race(work.promise);
    setImmediate(() => work.resolve(7));
    busyFor(20);
    expect(await raced).toBe(7);
  });

  test('gives work a moment when this process was busy for all of its span', async () => {
    const work = Promise.withResolvers<number>();
    const raced = new Deadline(5).race(work.promise);
    busyFor(20);
    // Turns and not time: the deadline has been looked at before the answer comes.
    for (let turn = 0; turn < 4; turn += 1) await nextTurn();
    work.resolve(7);
    expect(await raced).toBe(7);
  });

  test('ends also in a process that is always busy', async () => {
    const raced = new Deadline(5).race(never());
    let isBusy = true;
    const goOn = (): void => {
      busyFor(2);
      if (isBusy) setImmediate(goOn);
    };
    goOn();
    await expect(raced).rejects.toBeInstanceOf(DeadlineExceeded);
    isBusy = false;
  });
});
