import { expect, test } from 'vitest';
import { DeviceTurns } from '../../src/adapters/device-turns.ts';

test('one at a time for a device, in the order of arrival, whatever becomes of the one before; others do not wait', async () => {
  const turns = new DeviceTurns();
  const first = Promise.withResolvers<void>();
  const log: string[] = [];
  const running = [
    turns.take('d1', async () => {
      log.push('first');
      await first.promise;
      log.push('first ends');
    }),
    turns.take('d1', async () => void log.push('second')),
    turns.take('d1', async () => void log.push('third')),
    turns.take('d2', async () => void log.push('other')),
  ];
  await running[3];
  expect(log).toEqual(['first', 'other']);
  first.reject(new Error('no'));
  const outcomes = await Promise.allSettled(running);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(log).toEqual(['first', 'other', 'second', 'third']);
});
