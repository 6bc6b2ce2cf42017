import { describe, expect, test } from 'vitest';
import { PositionGate, targetOffset } from '../src/position-gate.ts';
import { quietLogger } from './quiet-logger.ts';

describe('targetOffset', () => {
  const ends = { low: 100n, high: 200n };
  test.for<[string, bigint | undefined, bigint | undefined, bigint]>([
    ['the lower one when the store is behind', 120n, 150n, 120n],
    ['the lower one when the commit is behind', 150n, 120n, 120n],
    ['the start when nothing was applied', undefined, 150n, 100n],
    ['the start when nothing was committed', 150n, undefined, 100n],
    ['the start when the log has moved on', 20n, 150n, 100n],
    ['the end when all is applied', 200n, 200n, 200n],
    ['the start when both are past the end: another topic of that name', 500n, 600n, 100n],
  ])('is %s', ([, applied, committed, target]) => {
    expect(targetOffset(applied, committed, ends)).toBe(target);
  });
});

const openGate = (first: { applied: bigint; committed: bigint; epoch?: number }) => {
  const world = { low: 0n, high: 100n, epoch: 1, failures: 0, reads: 0, ...first };
  const seeks: bigint[] = [];
  const stop = new AbortController();
  const gate = new PositionGate({
    applied: {
      epoch: () => world.epoch,
      read: () => {
        world.reads += 1;
        if (world.failures === 0) return Promise.resolve(new Map([[0, world.applied]]));
        world.failures -= 1;
        return Promise.reject(new Error('the store is away'));
      },
    },
    offsets: () =>
      Promise.resolve({
        ends: new Map([[0, { low: world.low, high: world.high }]]),
        committed: new Map([[0, world.committed]]),
      }),
    seek: (_partition, offset) => seeks.push(offset),
    logger: quietLogger,
    random: () => 0,
    signal: stop.signal,
  });
  return { gate, world, seeks, stop, signal: new AbortController().signal };
};

describe('PositionGate', () => {
  test('puts an assigned partition back to what the store has, and refuses the batch past it', async () => {
    const { gate, seeks, signal, stop } = openGate({ applied: 40n, committed: 60n });
    gate.assign([0]);
    expect(await gate.admit(0, 60n, signal)).toBeUndefined();
    expect(seeks).toContain(40n);
    expect(await gate.admit(0, 40n, signal)).toBeDefined();
    stop.abort();
  });

  test('does not seek to where the client begins by itself: its first fetch would be read twice', async () => {
    const { gate, seeks, signal, stop } = openGate({ applied: 60n, committed: 60n });
    gate.assign([0]);
    expect(await gate.admit(0, 60n, signal)).toBeDefined();
    expect(seeks).toEqual([]);
    stop.abort();
  });

  test('a new epoch takes the admission away, also in the middle of a batch', async () => {
    const { gate, world, seeks, signal, stop } = openGate({ applied: 60n, committed: 60n });
    gate.assign([0]);
    const admission = await gate.admit(0, 60n, signal);
    if (admission === undefined) throw new Error('not admitted');
    expect(gate.isCurrent(admission)).toBe(true);
    world.epoch += 1;
    world.applied = 10n;
    expect(gate.isCurrent(admission)).toBe(false);
    expect(gate.advance(admission, 0, 70n)).toBe(false);
    expect(await gate.admit(0, 60n, signal)).toBeUndefined();
    expect(seeks.at(-1)).toBe(10n);
    stop.abort();
  });

  test('a reconnect to a store that lost nothing moves nothing', async () => {
    const { gate, world, seeks, signal, stop } = openGate({ applied: 60n, committed: 60n });
    gate.assign([0]);
    await gate.admit(0, 60n, signal);
    const before = seeks.length;
    world.epoch += 1;
    expect(await gate.admit(0, 60n, signal)).toBeDefined();
    expect(seeks).toHaveLength(before);
    stop.abort();
  });

  test('admits nothing while the applied offsets cannot be read, and goes on when they can', async () => {
    const { gate, world, signal, stop } = openGate({ applied: 60n, committed: 60n });
    world.failures = 5;
    gate.assign([0]);
    expect(await gate.admit(0, 60n, signal)).toBeDefined();
    expect(world.reads).toBe(6);
    stop.abort();
  });

  test('an admission of an earlier assignment is worth nothing', async () => {
    const { gate, signal, stop } = openGate({ applied: 60n, committed: 60n });
    gate.assign([0]);
    const admission = await gate.admit(0, 60n, signal);
    if (admission === undefined) throw new Error('not admitted');
    gate.assign([0]);
    await gate.admit(0, 60n, signal);
    expect(gate.isCurrent(admission)).toBe(false);
    gate.assign([]);
    expect(await gate.admit(0, 60n, signal)).toBeUndefined();
    stop.abort();
  });

  test('tells which partitions are applied up to their ends, while their places are known', async () => {
    const { gate, world, signal, stop } = openGate({ applied: 60n, committed: 60n });
    const ends = (high: bigint) => new Map([[0, { low: 0n, high }]]);
    gate.assign([0]);
    expect(gate.atEnd(ends(60n))).toBeUndefined();
    const admission = await gate.admit(0, 60n, signal);
    if (admission === undefined) throw new Error('not admitted');
    const atSixty = { epoch: 1, partitions: [{ partition: 0, nextOffset: 60n }] };
    expect([gate.atEnd(ends(60n)), gate.atEnd(ends(61n))]).toEqual([atSixty, { epoch: 1, partitions: [] }]);
    gate.advance(admission, 0, 61n);
    expect(gate.atEnd(ends(61n))?.partitions).toEqual([{ partition: 0, nextOffset: 61n }]);
    expect(gate.atEnd(new Map())?.partitions).toEqual([]);
    world.epoch += 1;
    expect(gate.atEnd(ends(61n))).toBeUndefined();
    stop.abort();
    await gate.admit(0, 60n, signal);
    expect(gate.atEnd(ends(61n))).toBeUndefined();
  });

  test('does not wait for what retention has removed', async () => {
    const { gate, world, signal, stop } = openGate({ applied: 60n, committed: 60n });
    gate.assign([0]);
    await gate.admit(0, 60n, signal);
    world.low = 80n;
    expect(await gate.admit(0, 80n, signal)).toBeDefined();
    stop.abort();
  });

  test('without applied offsets every batch of the assignment is admitted', async () => {
    const stop = new AbortController();
    const gate = new PositionGate({
      applied: undefined,
      offsets: () => Promise.reject(new Error('not asked')),
      seek: () => {
        throw new Error('not sought');
      },
      logger: quietLogger,
      random: () => 0,
      signal: stop.signal,
    });
    gate.assign([0]);
    const admission = await gate.admit(0, 60n, stop.signal);
    if (admission === undefined) throw new Error('not admitted');
    expect(gate.advance(admission, 0, 70n)).toBe(true);
    expect(await gate.admit(0, 1_000n, stop.signal)).toBeDefined();
    stop.abort();
  });
});
