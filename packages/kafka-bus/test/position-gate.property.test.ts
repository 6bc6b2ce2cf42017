import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PositionGate } from '../src/position-gate.ts';
import { quietLogger } from './quiet-logger.ts';

/** One partition, one consumer and a store that may come back older at any moment. */
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('fetch' as const), size: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ do: fc.constant('apply' as const) }),
    // The store comes back while the batch waits to be admitted.
    fc.record({ do: fc.constant('applyInto' as const), back: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ do: fc.constant('restore' as const), back: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ do: fc.constant('commit' as const) }),
    fc.record({ do: fc.constant('rebalance' as const) }),
  ),
  { minLength: 20, maxLength: 80 },
);

test('no batch is ever applied past a hole, whenever the store comes back older', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (schedule) => {
      const high = 200n;
      let applied = 0n;
      let epoch = 1;
      let committed = 0n;
      let cursor = 0n;
      let inHand: { from: bigint; next: bigint } | undefined;
      const stop = new AbortController();
      const gate = new PositionGate({
        applied: { epoch: () => epoch, read: () => Promise.resolve(new Map([[0, applied]])) },
        offsets: () =>
          Promise.resolve({ ends: new Map([[0, { low: 0n, high }]]), committed: new Map([[0, committed]]) }),
        seek: (_partition, offset) => {
          cursor = offset;
        },
        logger: quietLogger,
        random: () => 0,
        signal: stop.signal,
      });
      const fetch = (size: bigint): void => {
        if (cursor < high) inHand = { from: cursor, next: cursor + size > high ? high : cursor + size };
      };
      const apply = async (): Promise<void> => {
        if (inHand === undefined) return;
        const { from, next } = inHand;
        inHand = undefined;
        const admission = await gate.admit(0, from, stop.signal);
        if (admission === undefined || !gate.isCurrent(admission)) return;
        expect(from).toBeLessThanOrEqual(applied);
        applied = next;
        if (gate.advance(admission, 0, next)) cursor = next;
      };

      const restore = (back: bigint): void => {
        epoch += 1;
        applied = applied > back ? applied - back : 0n;
      };

      gate.assign([0]);
      for (const step of schedule) {
        if (step.do === 'fetch') fetch(BigInt(step.size));
        if (step.do === 'apply') await apply();
        if (step.do === 'commit') committed = applied;
        if (step.do === 'rebalance') {
          cursor = committed;
          gate.assign([0]);
        }
        if (step.do === 'restore') restore(BigInt(step.back));
        if (step.do === 'applyInto') {
          const applying = apply();
          restore(BigInt(step.back));
          await applying;
        }
      }
      // Left alone, it reaches the end.
      for (let round = 0; round < 60; round += 1) {
        inHand = undefined;
        fetch(20n);
        await apply();
        await gate.admit(0, 0n, stop.signal);
      }
      expect(applied).toBe(high);
      stop.abort();
    }),
    { numRuns: 300 },
  );
});
