import { waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';
import { OPERATOR, rulesOf, startSelection } from './start-selection.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const cap = (max: number, window: string) => ({ max, window });
const creatives = (...ids: string[]) => ids.map((creativeId) => ({ creativeId }));
const ask = (breakAt: number, more: Record<string, unknown> = {}) => ({
  deviceId: 'd1',
  breakId: `b-${breakAt}`,
  breakAt,
  candidates: creatives('c1'),
  ...more,
});
const outcomes = (answer: { candidates: { outcome: string }[] }) =>
  answer.candidates.map(({ outcome }) => outcome);

describe('quotas at an instant', () => {
  test('law 1 over HTTP: blocked at 09:00, allowed at 09:12, allowed at 08:30', async ({
    selection,
    watch,
  }) => {
    selection.setRules(rulesOf([{ id: 'hourly', dimension: 'creative', limit: cap(3, '60m') }]));
    const nine = Date.now() - 2 * HOUR;
    await watch([48, 20, 5].map((minutes) => ({ at: nine - minutes * 60_000 })));
    const at = async (offsetMinutes: number) =>
      (await selection.select(ask(nine + offsetMinutes * 60_000))).candidates[0];
    expect(await at(0)).toEqual({
      index: 0,
      creativeId: 'c1',
      outcome: 'capped',
      allowed: false,
      remaining: 0,
      blockedBy: {
        ruleId: 'hourly',
        dimension: 'creative',
        value: 'c1',
        max: 3,
        windowMs: HOUR,
        used: 3,
        reserved: 0,
      },
      nextAllowedAt: nine + 12 * 60_000,
    });
    expect(await at(12)).toMatchObject({ outcome: 'allowed', allowed: true, remaining: 1 });
    expect(await at(-30)).toMatchObject({ outcome: 'allowed', allowed: true, remaining: 2 });
  });

  test('B03 the same three answers in any order, and from the history alone', async ({
    selection,
    watch,
    watchOnly,
  }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(2, '60m') }]));
    const t0 = Date.now() - 3 * HOUR;
    await watch([t0, t0 + 1].map((at) => ({ at })));
    await watchOnly('history')([t0, t0 + 1].map((at) => ({ at, deviceId: 'd2' })));
    for (const [deviceId, source] of [
      ['d1', 'quotas'],
      ['d2', 'history'],
    ]) {
      for (const [offset, remaining] of [
        [3_600_001, 2],
        [3_599_999, 0],
        [3_600_000, 1],
      ] as const) {
        const answer = await selection.select(ask(t0 + offset, { deviceId }));
        expect(answer.candidates[0]?.remaining).toBe(remaining);
        if (remaining === 0) expect(answer.source).toBe(source);
      }
    }
  });

  test('B06 asking never moves the release', async ({ selection, watch }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '10m') }]));
    const t0 = Date.now() - HOUR;
    await watch([{ at: t0 }]);
    for (let step = 0; step < 200; step += 1) {
      const answer = await selection.select(ask(t0 + step * 3_000, { slots: step % 2, reserve: false }));
      expect(answer.candidates[0]).toMatchObject({ allowed: false, nextAllowedAt: t0 + 600_000 });
    }
    expect((await selection.select(ask(t0 + 600_000))).candidates[0]?.remaining).toBe(1);
  });

  test('B16 the campaign at view time counts, whatever the request says now', async ({
    selection,
    watch,
  }) => {
    selection.setRules(rulesOf([{ dimension: 'campaign', value: 'k1', limit: cap(2, '60m') }]));
    const now = Date.now();
    await watch(['c1', 'c2'].map((creativeId) => ({ creativeId, campaignId: 'k1', at: now - 60_000 })));
    const candidates = [
      { creativeId: 'c1', campaignId: 'k1' },
      { creativeId: 'c2', campaignId: 'k1' },
      { creativeId: 'c3', campaignId: 'k2' },
      { creativeId: 'c2', campaignId: 'k2' },
    ];
    const answer = await selection.select(ask(now, { candidates }));
    expect(answer.candidates.map(({ remaining }) => remaining)).toEqual([0, 0, null, null]);
  });

  test('a bad candidate is invalid by its field and harms nobody else', async ({ selection }) => {
    selection.setRules(rulesOf([]));
    const answer = await selection.select(
      ask(Date.now(), { candidates: [{ creativeId: '[CID]' }, { creativeId: 'c1' }, 7] }),
    );
    expect(answer.candidates).toMatchObject([
      { outcome: 'invalid', error: { field: 'creativeId' } },
      { outcome: 'allowed', remaining: null },
      { outcome: 'invalid', creativeId: null },
    ]);
  });

  test('explain names every rule and its fate; what was watched only to an operator', async ({
    selection,
    watch,
  }) => {
    selection.setRules(
      rulesOf([
        { id: 'off', dimension: 'brand', value: 'b1', limit: 'OFF' },
        { id: 'spot', dimension: 'creative', value: 'c1', limit: cap(2, '60m') },
        { id: 'any', dimension: 'creative', limit: cap(1, '60m') },
        { id: 'brand', dimension: 'brand', limit: cap(1, '60m') },
      ]),
    );
    const at = Date.now() - 60_000;
    await watch([{ at, brandId: 'b1' }]);
    const body = ask(Date.now(), { candidates: [{ creativeId: 'c1', brandId: 'b1' }], explain: true });
    const { candidates } = await selection.select(body);
    expect(candidates[0]?.explain).toMatchObject([
      { ruleId: 'spot', rung: 'specific creative', fate: 'applies', used: 1, remaining: 1 },
      { ruleId: 'off', fate: 'applies' },
      { ruleId: 'any', fate: 'ended', because: 'off' },
      { ruleId: 'brand', fate: 'ended', because: 'off' },
    ]);
    const response = await fetch(`${selection.url}/v1/selections`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${OPERATOR}` },
      body: JSON.stringify(body),
    });
    expect(await response.json()).toMatchObject({
      candidates: [{ explain: [{ impressions: [at] }, {}, {}, {}] }],
    });
    expect(JSON.stringify(candidates)).not.toContain('impressions');
  });
});

describe('a pod', () => {
  test('B27 [c1, c1, c2, c1] with one view left grants c1 once', async ({ selection, watch }) => {
    selection.setRules(rulesOf([{ id: 'day', dimension: 'creative', limit: cap(3, '24h') }]));
    const now = Date.now();
    await watch([{ at: now - HOUR }, { at: now - 2 * HOUR }]);
    const answer = await selection.select(
      ask(now, { slots: 4, candidates: creatives('c1', 'c1', 'c2', 'c1') }),
    );
    expect(outcomes(answer)).toEqual(['placed', 'podCapped', 'placed', 'podCapped']);
    expect(answer.pod).toMatchObject([
      { slot: 1, index: 0, creativeId: 'c1' },
      { slot: 2, index: 2, creativeId: 'c2' },
    ]);
    expect(answer).toMatchObject({ unfilled: 2, reserved: true, degraded: false, source: 'quotas' });
    const reasons = [{ reason: 'podCapped', ruleId: 'day', candidates: 2 }];
    expect(answer.emptySlots).toEqual([
      { slot: 3, reasons },
      { slot: 4, reasons },
    ]);
    expect(answer.candidates[1]?.blockedBy).toMatchObject({ ruleId: 'day', used: 2, reserved: 1 });
  });

  test('B27 of two creatives of a brand with one view left one is placed, another brand is untouched', async ({
    selection,
  }) => {
    selection.setRules(rulesOf([{ dimension: 'brand', limit: cap(1, '24h') }]));
    const candidates = [
      { creativeId: 'c1', brandId: 'b1' },
      { creativeId: 'c2', brandId: 'b1' },
      { creativeId: 'c3', brandId: 'b2' },
    ];
    expect(outcomes(await selection.select(ask(Date.now(), { slots: 3, candidates })))).toEqual([
      'placed',
      'podCapped',
      'placed',
    ]);
  });

  test('B29 a reservation counts until its view replaces it, and the view counts once', async ({
    selection,
    watch,
  }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const now = Date.now();
    const answer = await selection.select(ask(now, { breakId: 'first', slots: 1 }));
    const other = () => selection.select(ask(now + 1_000, { breakId: 'other' }));
    expect((await other()).candidates[0]).toMatchObject({
      remaining: 0,
      blockedBy: { used: 0, reserved: 1 },
    });
    await watch([
      {
        at: now,
        impressionId: undefined,
        breakId: 'first',
        slot: 1,
        reservationId: answer.pod[0]?.reservationId ?? '',
      },
    ]);
    expect((await other()).candidates[0]).toMatchObject({
      remaining: 0,
      blockedBy: { used: 1, reserved: 0 },
    });
    const again = await selection.select(ask(now, { breakId: 'first', slots: 1 }));
    expect(again.pod).toEqual(answer.pod);
  });

  test('B29 asked again, also in parallel and with other candidates, a break gets the same answer', async ({
    selection,
  }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const now = Date.now();
    const first = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        selection.select(ask(now, { slots: 2, candidates: creatives('c1', `x${index}`) })),
      ),
    );
    const again = await selection.select(ask(now, { slots: 1, candidates: creatives('c9') }));
    for (const answer of [...first, again]) {
      const { serverTime: _told, asOf: _known, ...rest } = answer;
      expect(first[0]).toMatchObject(rest);
    }
    const other = await selection.select(ask(now + 1, { candidates: creatives('x0', 'x1', 'c1') }));
    expect(other.candidates.filter(({ remaining }) => remaining === 0)).toHaveLength(2);
  });

  test('B29 released, a reservation gives its view back', async ({ selection }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const now = Date.now();
    await selection.select(ask(now, { breakId: 'first', slots: 1 }));
    const remaining = async () =>
      (await selection.select(ask(now + 1_000, { breakId: 'other' }))).candidates[0]?.remaining;
    expect(await remaining()).toBe(0);
    const release = { deviceId: 'd1', breakId: 'first' };
    expect((await selection.post('/v1/reservations/release', release)).status).toBe(204);
    expect(await remaining()).toBe(1);
    expect((await selection.post('/v1/reservations/release', release)).status).toBe(204);
  });

  test('B29 expired without a view, a reservation gives it back, and the break can be reserved no more', async ({
    redisUrl,
    keyPrefix,
  }) => {
    const config = { ADCAP_RESERVATION_GRACE_MS: '1' };
    const selection = await startSelection({ redisUrl, keyPrefix, config });
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const breakAt = Date.now();
    const candidates = [{ creativeId: 'c1', durationMs: 499.5 }];
    const first = ask(breakAt, { breakId: 'first', slots: 1, candidates });
    expect(await selection.select(first)).toMatchObject({ reserved: true, unfilled: 0 });
    const remaining = async () =>
      (await selection.select(ask(breakAt + 1, { breakId: 'other' }))).candidates[0]?.remaining;
    expect(await remaining()).toBe(0);
    await waitFor(async () => (await remaining()) === 1, { what: 'the reservation expires' });
    const { status, body } = await selection.post('/v1/selections', first);
    expect([status, body['code']]).toEqual([400, 'ADCAP_BREAK_EXPIRED']);
    await selection.close();
  });

  test('B29 one break asked for through two processes at once has one answer', async ({
    selection,
    redisUrl,
    keyPrefix,
  }) => {
    const second = await startSelection({ redisUrl, keyPrefix });
    for (const one of [selection, second])
      one.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const now = Date.now();
    const answers = await Promise.all(
      [selection, second, selection, second].map((one, index) =>
        one.select(ask(now, { breakId: 'b', slots: 2, candidates: creatives('c1', `x${index}`) })),
      ),
    );
    const pods = new Set(answers.map(({ pod }) => JSON.stringify(pod)));
    expect([pods.size, answers.every(({ reserved }) => reserved)]).toEqual([1, true]);
    await second.close();
  });

  test('a later reserved break is not overfilled by an earlier one', async ({ selection }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const now = Date.now();
    await selection.select(ask(now + 2 * HOUR, { slots: 1 }));
    const earlier = await selection.select(ask(now + HOUR + 1, { slots: 1 }));
    expect(earlier.candidates[0]).toMatchObject({ outcome: 'capped', blockedBy: { at: now + 2 * HOUR } });
    expect(outcomes(await selection.select(ask(now + HOUR, { slots: 1 })))).toEqual(['placed']);
  });

  test('round 2 keeps what was granted, fills what is empty, and needs the same slots', async ({
    selection,
  }) => {
    selection.setRules(
      rulesOf([
        { dimension: 'creative', limit: cap(1, '60m') },
        { id: 'pod', dimension: 'industry', limit: cap(1, 'pod') },
      ]),
    );
    const now = Date.now();
    const betting = (creativeId: string) => ({ creativeId, industryIds: ['betting'] });
    const first = await selection.select(ask(now, { breakId: 'b', slots: 3, candidates: [betting('c1')] }));
    const second = await selection.select(
      ask(now, { breakId: 'b', round: 2, slots: 3, candidates: [betting('c2'), ...creatives('c1', 'c3')] }),
    );
    expect(outcomes(second)).toEqual(['podCapped', 'podCapped', 'placed']);
    expect(second.pod).toEqual([
      { ...first.pod[0], index: null },
      expect.objectContaining({ slot: 2, index: 2, creativeId: 'c3' }),
    ]);
    expect(second.unfilled).toBe(1);
    const wrong = await selection.post('/v1/selections', ask(now, { breakId: 'b', round: 3, slots: 2 }));
    expect([wrong.status, wrong.body['code']]).toEqual([409, 'ADCAP_BREAK_ROUND_CONFLICT']);
  });

  test('a moved break keeps the places that still fit, with their ids', async ({ selection, watch }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const now = Date.now();
    await watch([{ creativeId: 'c2', at: now - 50 * 60_000 }]);
    const candidates = creatives('c1', 'c2');
    const later = ask(now + HOUR, { breakId: 'b', slots: 2, candidates });
    const first = await selection.select(later);
    const moved = await selection.select({ ...later, breakAt: now });
    expect(moved.pod).toEqual([first.pod[0]]);
    expect(moved).toMatchObject({ unfilled: 1, reserved: true });
    expect(outcomes(moved)).toEqual(['placed', 'capped']);
    const remaining = async (at: number) => (await selection.select(ask(at))).candidates[0]?.remaining;
    expect([await remaining(now + 1), await remaining(now + HOUR)]).toEqual([0, 1]);
  });

  test('reserve false and slots 0 hold nothing', async ({ selection }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const now = Date.now();
    const answer = await selection.select(ask(now, { slots: 1, reserve: false }));
    expect(answer).toMatchObject({ reserved: false, pod: [{ slot: 1 }] });
    expect((await selection.select(ask(now + 1))).candidates[0]?.remaining).toBe(1);
  });

  test('two screens asking at once through two processes never share the last view', async ({
    selection,
    redisUrl,
    keyPrefix,
  }) => {
    const second = await startSelection({ redisUrl, keyPrefix });
    const rules = rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]);
    for (const one of [selection, second]) one.setRules(rules);
    const now = Date.now();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? selection : second).select(ask(now, { breakId: `s${index}`, slots: 1 })),
      ),
    );
    expect(answers.filter(({ pod }) => pod.length > 0)).toHaveLength(1);
    expect(answers.filter(({ source }) => source === 'open')).toEqual([]);
    await second.close();
  });

  test('exempt ads are placed and hold nothing; their id is theirs all the same', async ({ selection }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const now = Date.now();
    const slate = { creativeId: 'slate', exempt: true };
    const answer = await selection.select(ask(now, { slots: 2, candidates: [slate, slate] }));
    expect(outcomes(answer)).toEqual(['placed', 'placed']);
    expect(new Set(answer.pod.map(({ reservationId }) => reservationId)).size).toBe(2);
    const other = await selection.select(ask(now + 1, { candidates: creatives('slate') }));
    expect(other.candidates[0]?.remaining).toBe(1);
  });

  test('what the caller chose is granted place by place', async ({ selection }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const { breakAt, breakId, deviceId } = ask(Date.now());
    const { status, body } = await selection.post('/v1/reservations', {
      breakAt,
      breakId,
      deviceId,
      items: creatives('c1', 'c1', 'c2'),
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      reserved: true,
      granted: [
        { slot: 1, creativeId: 'c1' },
        { slot: 3, creativeId: 'c2' },
      ],
      refused: [{ index: 1, outcome: 'podCapped' }],
    });
  });

  test('a batch is decided in time order and answered in the order asked', async ({ selection }) => {
    selection.setRules(rulesOf([{ dimension: 'creative', limit: cap(1, '60m') }]));
    const now = Date.now();
    const breaks = [now + HOUR - 1, now, now + HOUR].map((breakAt) => ({
      breakId: `b${breakAt}`,
      breakAt,
      slots: 1,
      candidates: creatives('c1'),
    }));
    const { body } = await selection.post('/v1/selections/batch', { deviceId: 'd1', breaks });
    expect(body).toMatchObject({ answers: [{ unfilled: 1 }, { unfilled: 0 }, { unfilled: 0 }] });
  });
});

describe('what is refused', () => {
  test('an instant out of range, an expired break, a wrong envelope', async ({ selection }) => {
    selection.setRules(rulesOf([]));
    const now = Date.now();
    const codeOf = async (body: unknown) => {
      const answered = await selection.post('/v1/selections', body);
      return [answered.status, answered.body['code']];
    };
    expect(await codeOf(ask(now - DAY - 60_000))).toEqual([400, 'ADCAP_BREAK_OUT_OF_RANGE']);
    expect(await codeOf(ask(now + 37 * HOUR))).toEqual([400, 'ADCAP_BREAK_OUT_OF_RANGE']);
    expect(await codeOf(ask(now - HOUR, { slots: 1 }))).toEqual([400, 'ADCAP_BREAK_EXPIRED']);
    expect(await codeOf(ask(Math.floor(now / 1_000)))).toEqual([400, 'ADCAP_REQUEST_INVALID']);
    expect(await codeOf({})).toEqual([400, 'ADCAP_REQUEST_INVALID']);
  });

  test('a device without an identity is answered, and nothing is kept of it', async ({
    selection,
    redis,
    keyPrefix,
  }) => {
    selection.setRules(
      rulesOf([
        { dimension: 'creative', limit: cap(1, '60m') },
        { id: 'never', dimension: 'creative', value: 'c2', limit: 'BLOCK' },
      ]),
    );
    const answer = await selection.select(
      ask(Date.now(), { deviceId: '[IFA]', slots: 3, candidates: creatives('c1', 'c2', 'c1') }),
    );
    expect(answer).toMatchObject({ source: 'unidentified', degraded: false, reserved: false });
    expect(outcomes(answer)).toEqual(['placed', 'capped', 'podCapped']);
    expect(answer.candidates.map(({ remaining }) => remaining)).toEqual([null, 0, null]);
    expect(await redis.keys(`${keyPrefix}*`)).toEqual([]);
  });
});

describe('an operator', () => {
  test('sees a device at an instant and erases it; nobody else does', async ({ selection, watch }) => {
    selection.setRules(rulesOf([{ id: 'hourly', dimension: 'creative', limit: cap(3, '60m') }]));
    const at = Date.now() - 60_000;
    await watch([{ at }]);
    const url = `${selection.url}/v1/devices/d1`;
    const headers = { authorization: `Bearer ${OPERATOR}` };
    expect((await fetch(url)).status).toBe(401);
    const report = await (await fetch(`${url}?at=${at + 1_000}`, { headers })).json();
    expect(report).toMatchObject({
      deviceId: 'd1',
      at: at + 1_000,
      history: [{ creativeId: 'c1', at }],
      caps: [{ ruleId: 'hourly', value: 'c1', used: 1, remaining: 2 }],
    });
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(204);
    expect((await selection.select(ask(Date.now()))).candidates[0]?.remaining).toBe(3);
  });
});
