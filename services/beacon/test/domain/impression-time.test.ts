import { epochMs, instantSchema } from '@adcap/contracts';
import { expect, test } from 'vitest';
import { impressionTime } from '../../src/domain/impression-time.ts';

const S = epochMs(1_709_971_200_000);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const at = (offsetMs: number) => epochMs(S + offsetMs);
const instant = (value: string | number) => instantSchema.parse(value);

const told = { receivedAt: S, isProducer: false };

test.for([
  ['B07 nothing said: when it was received', {}, S],
  ['B07 a clock 2 h fast, sent as it was played', { sentAt: at(2 * HOUR), playedAt: at(2 * HOUR) }, S],
  ['B07 a clock 14 days fast, sent as it was played', { sentAt: at(14 * DAY), playedAt: at(14 * DAY) }, S],
  [
    'B07 a clock 3 h slow, sent 10 min after it was played',
    { sentAt: at(-3 * HOUR), playedAt: at(-3 * HOUR - 10 * MINUTE) },
    at(-10 * MINUTE),
  ],
  ['B07 playedAt alone, an hour ago', { playedAt: at(-HOUR) }, S],
  ['B07 playedAt alone, years ago', { playedAt: epochMs(1e11) }, S],
  ['B07 playedAt alone, in the future', { playedAt: at(DAY) }, S],
  ['sentAt alone', { sentAt: at(-HOUR) }, S],
  ['an age', { ageMs: 5_000 }, at(-5_000)],
  ['an age before the clocks of the device', { ageMs: 5_000, sentAt: S, playedAt: at(-HOUR) }, at(-5_000)],
  ['a fraction of a millisecond is rounded', { ageMs: 1_234.5 }, at(-1_235)],
  ['a negative age is none', { ageMs: -5_000 }, S],
  ['played after it was sent is no age', { sentAt: S, playedAt: at(HOUR) }, S],
  ['exactly the retention', { ageMs: DAY }, at(-DAY)],
  ['B07 a millisecond over the retention', { ageMs: DAY + 1 }, undefined],
  ['B07 25 h by the clocks of the device', { sentAt: at(-HOUR), playedAt: at(-26 * HOUR) }, undefined],
  ['an absurd age', { ageMs: Number.MAX_VALUE }, undefined],
  [
    'B25 offsets across the change to summer time',
    { sentAt: instant('2024-03-10T03:40:00-04:00'), playedAt: instant('2024-03-10T01:30:00-05:00') },
    at(-70 * MINUTE),
  ],
  [
    'B25 the same pair in UTC',
    { sentAt: instant('2024-03-10T07:40:00Z'), playedAt: instant('2024-03-10T06:30:00+00:00') },
    at(-70 * MINUTE),
  ],
  [
    'B25 the same pair in epoch ms',
    { sentAt: instant(1_710_056_400_000), playedAt: instant(1_710_052_200_000) },
    at(-70 * MINUTE),
  ],
] as const)('impressionTime: %s', ([, times, expected]) => {
  expect(impressionTime({ ...told, ...times }, DAY)).toBe(expected);
});

test.for([
  ['its playedAt alone is believed', { playedAt: at(-HOUR) }, at(-HOUR)],
  ['its playedAt in the future is now', { playedAt: at(HOUR) }, S],
  ['its playedAt beyond the retention is too old', { playedAt: at(-DAY - 1) }, undefined],
  ['its age comes first', { ageMs: 0, playedAt: at(-HOUR) }, S],
] as const)('impressionTime of a producer: %s', ([, times, expected]) => {
  expect(impressionTime({ receivedAt: S, isProducer: true, ...times }, DAY)).toBe(expected);
});
