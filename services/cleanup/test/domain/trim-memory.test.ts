import { epochMs } from '@adcap/contracts';
import { expect, test } from 'vitest';
import { createTrimMemory } from '../../src/domain/trim-memory.ts';

const NOW = 1_700_000_000_000;
const at = (offsetMs: number) => epochMs(NOW + offsetMs);

const memoryWith = (...deviceIds: string[]) => {
  const memory = createTrimMemory({ intervalMs: 60_000, maxDevices: 3 });
  memory.noteTrimmed(deviceIds, at(0));
  return memory;
};

test('a device that was never trimmed is due, once however often it is named', () => {
  expect(memoryWith().due(['a', 'b', 'a'], at(0))).toEqual(['a', 'b']);
});

test('a device is due until it was trimmed: one whose trim failed stays due', () => {
  const memory = memoryWith();
  memory.due(['a'], at(0));
  expect(memory.due(['a'], at(1))).toEqual(['a']);
});

test.for([
  ['at once', 0, []],
  ['a millisecond before the interval is over', 59_999, []],
  ['when the interval is over', 60_000, ['a']],
  ['when the clock was put back', -1, ['a']],
] as const)('a trimmed device that watches %s', ([, offsetMs, due]) => {
  expect(memoryWith('a').due(['a'], at(offsetMs))).toEqual(due);
});

test('a device that floods is due before the interval is over, and counts anew after its trim', () => {
  const memory = memoryWith('a');
  const many = Array.from({ length: 255 }, () => 'a');
  expect(memory.due(many, at(1))).toEqual([]);
  expect(memory.due(['a'], at(2))).toEqual(['a']);
  memory.noteTrimmed(['a'], at(2));
  expect(memory.due(['a'], at(3))).toEqual([]);
});

test('the longest unseen device is forgotten first', () => {
  const memory = memoryWith('a', 'b', 'c');
  memory.due(['a'], at(1));
  memory.noteTrimmed(['d'], at(1));
  expect(memory.due(['a', 'b', 'c', 'd'], at(2))).toEqual(['b']);
});
