import { randomUUID } from 'node:crypto';
import { epochMs } from '@adcap/contracts';
import { breakKeyOf, reservationFingerprint, valueKeyOf } from '@adcap/identity';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { anImpression } from './an-impression.ts';
import { DeviceModel } from './device-model.ts';
import { apply, aReservation, HOUR_MS, historyViews, KEEP_MS, type Stores, test } from './stores.ts';

const now = Date.now();
const base = now - 2 * HOUR_MS;

const small = (max: number) => fc.integer({ min: 0, max });
/** Few values of everything, so that commands meet. */
const stepArbitrary = fc.oneof(
  {
    weight: 18,
    arbitrary: fc.record({
      do: fc.constant('apply' as const),
      kind: fc.constantFrom('reservation', 'impression', 'break', 'moment'),
      creative: small(2),
      id: small(3),
      tenSeconds: small(12),
      isReceivedLater: fc.boolean(),
      isPlaced: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('trim' as const), tenSeconds: small(12) }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      ids: fc.uniqueArray(small(3), { maxLength: 2 }),
      creative: small(2),
      breakNumber: small(1),
      isStale: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('release' as const), breakNumber: small(1) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'erase' as const }) },
);
type Step = typeof stepArbitrary extends fc.Arbitrary<infer Value> ? Value : never;
type Told = Extract<Step, { do: 'apply' }>;

const eventOf = (deviceId: string, step: Told) => {
  const place = { sessionId: 's', breakId: `b-${step.id % 2}`, slot: step.id + 1 };
  return anImpression({
    deviceId,
    creativeId: `c-${step.creative}`,
    at: base + step.tenSeconds * 10_000,
    receivedAt: step.isReceivedLater ? now + HOUR_MS : base,
    impressionId: step.kind === 'impression' ? `i-${step.id}` : undefined,
    ...(step.kind === 'reservation' ? { reservationId: `token-${step.id}` } : {}),
    ...(step.kind === 'break' || (step.isPlaced && step.kind !== 'moment') ? place : {}),
  });
};

const reservationsOf = (deviceId: string, step: Extract<Step, { do: 'commit' }>) =>
  step.ids.map((id) =>
    aReservation({
      at: now + HOUR_MS,
      // Each expires at a time of its own: the scripts look at the soonest first.
      expiresAt: now + HOUR_MS + id,
      id: reservationFingerprint(deviceId, `token-${id}`),
      breakKey: breakKeyOf('s', `b-${step.breakNumber}`),
      slot: id + 1,
      creative: valueKeyOf(`c-${step.creative}`),
    }),
  );

/** The same device in Redis and in the model. */
class Pair {
  readonly deviceId = randomUUID();
  readonly model = new DeviceModel();
  readonly stores: Stores;
  readonly #pods = new Set<string>();

  constructor(stores: Stores) {
    this.stores = stores;
  }

  async tell(step: Told): Promise<void> {
    const { window, history, connection } = this.stores;
    const event = eventOf(this.deviceId, step);
    const expected = this.model.apply(event, now);
    expect(await apply(window, connection, [event])).toEqual([expected]);
    expect(await apply(history, connection, [event])).toEqual([expected]);
    // The history's turn may answer one more reservation of the same place.
    if (expected !== 'erased') this.model.convert(event);
  }

  async commit(step: Extract<Step, { do: 'commit' }>): Promise<void> {
    const taken = new Set(this.model.reservations.map(({ id }) => id));
    const add = reservationsOf(this.deviceId, step).filter(({ id }) => !taken.has(id));
    const breakKey = breakKeyOf('s', `b-${step.breakNumber}`);
    const expectedVersion = this.model.version + (step.isStale ? -1 : 0);
    const kind = this.model.commit(expectedVersion, add);
    if (kind === 'committed') this.#pods.add(breakKey);
    const outcome = await this.stores.decisions.commit({
      deviceId: this.deviceId,
      breakKey,
      expectedVersion,
      notAfterMs: now + HOUR_MS,
      remove: [],
      add,
      storedPod: '{}',
      podExpiresAtMs: now + HOUR_MS,
    });
    expect(outcome.kind).toBe(kind);
  }

  async release(breakNumber: number): Promise<void> {
    const breakKey = breakKeyOf('s', `b-${breakNumber}`);
    this.model.release(breakKey, this.#pods.delete(breakKey));
    await this.stores.decisions.release({ deviceId: this.deviceId, breakKey });
  }

  async erase(): Promise<void> {
    for (const { breakKey } of this.model.reservations) this.#pods.delete(breakKey);
    this.model.erase();
    await this.stores.decisions.erase(this.deviceId);
  }

  async trim(cutoff: number): Promise<void> {
    this.model.trim(cutoff);
    await this.stores.cleaner.trim([this.deviceId], epochMs(cutoff + KEEP_MS));
  }

  async run(step: Step): Promise<void> {
    switch (step.do) {
      case 'apply':
        return this.tell(step);
      case 'commit':
        return this.commit(step);
      case 'release':
        return this.release(step.breakNumber);
      case 'erase':
        return this.erase();
      case 'trim':
        return this.trim(base + step.tenSeconds * 10_000);
    }
  }

  async compare(): Promise<void> {
    const { decisions } = this.stores;
    const of = { deviceId: this.deviceId, breakKey: breakKeyOf('s', 'b-0'), sinceMs: base + 30_000 };
    const reading = await decisions.read(of);
    const expected = this.model.impressions
      .filter(({ at }) => at > of.sinceMs)
      .map(({ at, creativeId }) => `${at} ${valueKeyOf(creativeId)}`)
      .toSorted();
    const shown = ({ at, creative }: { at: number; creative: number }) => `${at} ${creative}`;
    expect(reading.views.map(shown).toSorted()).toEqual(expected);
    expect((await historyViews(this.stores, of)).map(shown).toSorted()).toEqual(expected);
    expect(reading.isComplete).toBe(true);
    const both = await decisions.read({ ...of, from: 'both' });
    expect(both.views.map(shown).toSorted()).toEqual(expected);
    expect(reading.version).toBe(this.model.version);
    const ids = this.model.reservations.map(({ id }) => id);
    expect(reading.reservations.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  }
}

test('scripts do to a device what the model does, whatever comes in whatever order', async ({ stores }) => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArbitrary, { maxLength: 40, size: 'max' }), async (steps) => {
      const pair = new Pair(stores);
      for (const step of steps) {
        await pair.run(step);
        await pair.compare();
      }
    }),
    { numRuns: 80 },
  );
});
