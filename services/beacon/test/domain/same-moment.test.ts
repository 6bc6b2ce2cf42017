import { epochMs } from '@adcap/contracts';
import { expect, test } from 'vitest';
import { countedMoments } from '../../src/domain/same-moment.ts';
import { RECEIVED_AT, someEvent } from '../beacon-fixtures.ts';

const SECOND = 1_000;

/** The offsets that count, in ms from RECEIVED_AT. */
const counted = (offsets: readonly number[], last?: number) => {
  const views = offsets.map((offset) => someEvent({ at: RECEIVED_AT + offset }));
  const lastAt = last === undefined ? undefined : epochMs(RECEIVED_AT + last);
  return [...countedMoments(views, lastAt)].map(({ at }) => at - RECEIVED_AT);
};

test.for([
  ['the first of a device', [0], undefined, [0]],
  ['a twin', [0, 0], undefined, [0]],
  ['30 s less a millisecond later', [0, 30 * SECOND - 1], undefined, [0]],
  ['30 s later', [0, 30 * SECOND], undefined, [0, 30 * SECOND]],
  ['30 s earlier, told later', [0, -30 * SECOND], undefined, [0, -30 * SECOND]],
  ['29 s earlier, told later', [0, -29 * SECOND], undefined, [0]],
  [
    'every 20 s: measured from the last that counted',
    [0, 20e3, 40e3, 60e3, 80e3],
    undefined,
    [0, 40e3, 80e3],
  ],
  ['an exact repeat behind another that counted', [0, 30e3, 0, 30e3], undefined, [0, 30e3]],
  ['near the last counted one', [0], -10 * SECOND, []],
  ['a twin of a repeat, far from what counted', [0, 25e3], -10 * SECOND, [25e3]],
  ['B33 20 minutes after the last counted one', [0], -1_200 * SECOND, [0]],
] as const)('countedMoments: %s', ([, offsets, last, expected]) => {
  expect(counted(offsets, last)).toStrictEqual(expected);
});
