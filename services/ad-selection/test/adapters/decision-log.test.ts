import { epochMs, type SelectionAnswer } from '@adcap/contracts';
import { expect, test } from 'vitest';
import { createDecisionLog } from '../../src/adapters/decision-log.ts';
import { askOf, NINE } from '../domain/scene.ts';

const answer: SelectionAnswer = {
  breakId: 'b1',
  breakAt: NINE,
  serverTime: epochMs(NINE + 5),
  source: 'quotas',
  degraded: false,
  reserved: true,
  rulesVersion: 3,
  asOf: null,
  candidates: [],
  pod: [],
  unfilled: 0,
};

/** A log over a bus that takes everything or nothing. */
const createLog = ({ sample = 1, isAway = false }: { sample?: number; isAway?: boolean }) => {
  const sent: string[] = [];
  const records: unknown[] = [];
  let dropped = 0;
  const producer = {
    send: async (topic: string, messages: readonly { value: string | Buffer | null }[]) => {
      if (isAway) throw new Error('the bus is away');
      sent.push(topic);
      records.push(...messages.map(({ value }) => JSON.parse(String(value))));
    },
  };
  const draws = [0, 0.25, 0.5, 0.75];
  const log = createDecisionLog(producer, {
    topicPrefix: 'x.',
    sample,
    random: () => draws.shift() ?? 0.99,
    onDropped: () => (dropped += 1),
  });
  return { log, sent, records, dropped: () => dropped };
};

test.for([
  [0, 0],
  [0.5, 2],
  [1, 4],
] as const)('of four decisions at a sample of %d it sends %i', ([sample, expected]) => {
  const { log, sent } = createLog({ sample });
  for (let count = 0; count < 4; count += 1) log(askOf({}), answer);
  expect(sent).toEqual(Array.from({ length: expected }, () => 'x.adcap.decisions.v1'));
});

test('what the bus does not take is dropped and counted; a device without identity is not noted', async () => {
  const { log, sent, dropped } = createLog({ isAway: true });
  log(askOf({ deviceId: undefined }), answer);
  log(askOf({}), answer);
  await new Promise(setImmediate);
  expect([sent, dropped()]).toEqual([[], 1]);
});

test('a place has the values that it is counted under; one of an earlier round is only named', () => {
  const { log, records } = createLog({});
  const candidates = [
    { creativeId: 'c1', campaignId: 'k1', brandId: 'acme.example', industryIds: ['auto'] },
    { creativeId: 'house', exempt: true },
    { creativeId: 'c2' },
  ];
  const place = (slot: number, index: number | null, creativeId: string) => ({
    slot,
    index,
    creativeId,
    reservationId: `r${slot}`,
  });
  const pod = [place(1, 0, 'c1'), place(2, 1, 'house'), place(3, null, 'c0'), place(4, 2, 'another')];
  log(askOf({ candidates, slots: 4 }), {
    ...answer,
    pod,
    candidates: ['placed', 'placed', 'noSlot'].map((outcome, index) => ({
      index,
      creativeId: `c${index}`,
      outcome: outcome === 'placed' ? ('placed' as const) : ('noSlot' as const),
      allowed: true,
      remaining: null,
    })),
  });
  expect(records).toMatchObject([
    {
      spare: 1,
      placed: [
        { slot: 1, creativeId: 'c1', campaignId: 'k1', brandId: 'acme.example', industryIds: ['auto'] },
        { slot: 2, creativeId: 'house', industryIds: [], exempt: true },
        { slot: 3, creativeId: 'c0', isKept: true },
        { slot: 4, creativeId: 'another', isKept: true },
      ],
    },
  ]);
});
