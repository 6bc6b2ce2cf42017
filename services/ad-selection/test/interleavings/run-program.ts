import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type EpochMs,
  epochMs,
  type ImpressionEvent,
  type ReservationsAnswer,
  type SelectionAnswer,
} from '@adcap/contracts';
import { breakKeyOf, impressionIdentity, valueKeyOf } from '@adcap/identity';
import type { DecisionStore, ImpressionWriter } from '@adcap/redis-windows';
import { waitFor } from '@adcap/testkit';
import { askOracle, type OracleAd, type OracleView } from '@adcap/testkit/oracle';
import { expect } from 'vitest';
import { toEntries } from '../../src/domain/to-entries.ts';
import { ADS, ruleSetOf } from './catalogue.ts';
import {
  applyImpression,
  type Consumer,
  type DeviceState,
  instantsBetween,
  layGhost,
  NOTHING_YET,
  release,
} from './device-state.ts';
import { type Answered, statesAfter, type World } from './expect-answer.ts';
import { type Happening, linearize } from './linearize.ts';
import type { Operation, Step } from './program.arbitraries.ts';

const MINUTE_MS = 60_000;
const SESSION = 's1';
const SHORT_BREAK = 2;
/** After the start of the program; the break of SHORT_BREAK is over `graceMs` later. */
const SHORT_BREAK_IN_MS = 150;

/** What a program is run against. */
export type Bench = {
  /** To one of two processes. */
  post(process: number, path: string, body: unknown): Promise<{ status: number; body: unknown }>;
  apply: Record<Consumer, ImpressionWriter>;
  epoch: () => number;
  store: Pick<DecisionStore, 'inspect'>;
  changeRules(): Promise<void>;
  /** Whether the store itself did not answer anybody for a while between two instants. */
  stoodStill(from: number, to: number): boolean;
  world: World;
};

/** Waits for others that use the machine; nothing of a step is under way before its turn. */
type InTurn = (work: () => Promise<void>) => Promise<void>;

type Request = Extract<Operation, { do: 'select' | 'reserve' }> & { round: number };

const isAnswer = (body: unknown): body is SelectionAnswer | ReservationsAnswer =>
  typeof body === 'object' && body !== null && 'source' in body;

const codeOf = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string'
    ? body.code
    : 'none';

/** One life of one device, in both processes and in the model. */
export class Program {
  readonly #bench: Bench;
  readonly #inTurn: InTurn;
  readonly #note: (source: string) => void;
  readonly #deviceId = randomUUID();
  readonly #startMs = Date.now();
  readonly #asked = new Map<number, Request>();
  readonly #answered = new Map<number, SelectionAnswer['pod']>();
  readonly #queues: Record<Consumer, ImpressionEvent[]> = { window: [], history: [] };
  readonly #log: string[] = [];
  #states: DeviceState[] = [NOTHING_YET];

  constructor(bench: Bench, options: { inTurn: InTurn; note: (source: string) => void }) {
    this.#bench = bench;
    this.#inTurn = options.inTurn;
    this.#note = options.note;
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      // oxlint-disable-next-line no-await-in-loop
      await (step === 'expire' ? this.#expire() : this.#inTurn(() => this.#atOnce(step)));
    }
    await this.#inTurn(() => this.#atOnce([]));
    await this.#inTurn(() => this.#isRightAtTheEnd());
  }

  async #atOnce(operations: readonly Operation[]): Promise<void> {
    const behind = new Set<Consumer>();
    const begun = operations.map((operation) => this.#begin(operation, behind));
    const consumers = (['window', 'history'] as const).filter((consumer) => !behind.has(consumer));
    const drained = consumers.map((consumer) => this.#drain(consumer));
    const happenings = (await Promise.all([...begun, ...drained])).flat();
    for (const { what } of happenings) this.#log.push(what);
    const before = this.#states;
    this.#states = linearize(before, happenings);
    if (this.#states.length > 0) return;
    throw new Error(
      `no order of what happened last explains it\n${this.#log.join('\n')}\nlast: ${happenings.length} of these\nbefore: ${JSON.stringify(
        before.map((state) => ({
          ...state,
          window: [...state.window.values()],
          history: [...state.history.values()],
          pods: [...state.pods],
        })),
        undefined,
        1,
      )}`,
    );
  }

  #begin(operation: Operation, behind: Set<Consumer>): Promise<Happening[]> {
    switch (operation.do) {
      case 'select':
      case 'reserve':
        return this.#ask({ ...operation, round: 1 });
      case 'retry':
        return this.#ask({ ...this.#lastOf(operation.break), process: operation.process });
      case 'move':
        return this.#ask({
          ...this.#lastOf(operation.break),
          process: operation.process,
          instant: operation.instant,
        });
      case 'topUp': {
        const last = this.#lastOf(operation.break);
        const { process, ads } = operation;
        return this.#ask({ ...last, process, ads, round: last.round + 1 });
      }
      case 'release':
        return this.#release(operation);
      case 'watch':
        if (operation.behind !== 'nobody') behind.add(operation.behind);
        this.#watch(operation);
        return Promise.resolve([]);
      case 'changeRules':
        return this.#bench.changeRules().then(() => []);
    }
  }

  #lastOf(number: number): Request {
    const fresh = {
      do: 'select',
      process: 0,
      break: number,
      instant: 0,
      slots: 2,
      ads: [0, 1, 3],
      reserve: true,
    } as const;
    return this.#asked.get(number) ?? { ...fresh, ads: [...fresh.ads], round: 1 };
  }

  #breakAt(number: number, instant: number): EpochMs {
    if (number === SHORT_BREAK) return epochMs(this.#startMs + SHORT_BREAK_IN_MS + 10 * instant);
    return epochMs(this.#startMs + (number + 1) * 10 * MINUTE_MS + instant * 25 * MINUTE_MS);
  }

  async #ask(request: Request): Promise<Happening[]> {
    this.#asked.set(request.break, request);
    const durationMs = request.break === SHORT_BREAK ? 1 : 30_000;
    const candidates = request.ads.flatMap((index) => {
      const ad = ADS[index];
      return ad === undefined ? [] : [{ ...ad, durationMs }];
    });
    const envelope = {
      deviceId: this.#deviceId,
      sessionId: SESSION,
      breakId: `b${request.break}`,
      round: request.round,
      breakAt: this.#breakAt(request.break, request.instant),
    };
    const slots = request.do === 'select' ? request.slots : candidates.length;
    const reserve = request.do === 'reserve' || request.reserve;
    const ask: Answered['ask'] = {
      ...envelope,
      context: {},
      slots: Array.from({ length: slots }, () => ({})),
      podDurationMs: undefined,
      reserve,
      isFixed: request.do === 'reserve',
      explain: 'nothing',
      entries: toEntries(candidates, valueKeyOf),
    };
    const from = epochMs(Date.now());
    const { status, body } =
      request.do === 'select'
        ? await this.#bench.post(request.process, '/v1/selections', {
            ...envelope,
            slots,
            reserve,
            candidates,
          })
        : await this.#bench.post(request.process, '/v1/reservations', { ...envelope, items: candidates });
    const to = epochMs(Date.now());
    const said = this.#hear(request, { status, body, from, to });
    const what = `${request.do} ${JSON.stringify({ ...request, ...envelope, from, to })} -> ${status} ${JSON.stringify(body)}`;
    const answered: Answered = { ask, said, from, to };
    return [{ what, after: (state) => statesAfter(state, answered, this.#bench.world) }];
  }

  /** An answer in one shape, whichever route it came from. */
  #hear(
    request: Request,
    { status, body, from, to }: { status: number; body: unknown; from: number; to: number },
  ): Answered['said'] {
    if (!isAnswer(body)) {
      if (status !== 400 && status !== 409) throw new Error(`${status}: ${JSON.stringify(body)}`);
      return { code: codeOf(body) };
    }
    if (body.source === 'open') this.#excuseOpen(body, { from, to });
    this.#note(body.degraded ? (body.degradedReason ?? 'degraded') : body.source);
    const said = 'granted' in body ? asSelection(body) : body;
    if (said.reserved) this.#answered.set(request.break, said.pod);
    return said;
  }

  /** An open answer is a failure, unless the store stood still for everybody. */
  #excuseOpen(body: SelectionAnswer | ReservationsAnswer, { from, to }: { from: number; to: number }): void {
    const isExcused = body.degradedReason === 'deadline' && this.#bench.stoodStill(from, to);
    if (!isExcused) throw new Error(`an open answer: ${JSON.stringify(body)}`);
    this.#note('store stood still');
  }

  async #release({ process, break: number }: { process: number; break: number }): Promise<Happening[]> {
    const breakId = `b${number}`;
    const body = { deviceId: this.#deviceId, sessionId: SESSION, breakId };
    const { status } = await this.#bench.post(process, '/v1/reservations/release', body);
    expect(status).toBe(204);
    const breakKey = breakKeyOf(SESSION, breakId);
    return [{ what: `release ${breakId}`, after: (state) => [release(state, breakKey)] }];
  }

  #watch({ by, break: number, place }: Extract<Operation, { do: 'watch' }>): void {
    const pod = this.#answered.get(number) ?? [];
    const watched = pod.length === 0 ? undefined : pod[place % pod.length];
    const claims = watched === undefined ? undefined : this.#bench.world.tokens.verify(watched.reservationId);
    const isOfPod = watched !== undefined && claims !== undefined && by !== 'neither';
    const ad: Words = isOfPod ? claims : (ADS[place * 2] ?? ADS[0]);
    const identity = isOfPod
      ? {
          ...claims,
          at: this.#breakAt(number, this.#asked.get(number)?.instant ?? 0) + watched.slot,
          ...(by === 'reservation' ? { reservationId: watched.reservationId } : {}),
        }
      : { ...ad, at: this.#startMs - (place + 1) * 20 * MINUTE_MS, impressionId: randomUUID() };
    const whole = { ...identity, deviceId: this.#deviceId, industryIds: [...ad.industryIds] };
    const { reservationId: _reservationId, ...told } = { reservationId: undefined, ...whole };
    const impression: ImpressionEvent = {
      type: 'NEW_IMPRESSION',
      v: 1,
      ...told,
      receivedAt: Date.now(),
      ...impressionIdentity(whole),
    };
    this.#queues.window.push(impression);
    this.#queues.history.push(impression);
  }

  /** A consumer applies what is waiting for it, in the order of the partition. */
  async #drain(consumer: Consumer): Promise<Happening[]> {
    const events = this.#queues[consumer].splice(0);
    const happenings: Happening[] = [];
    for (const event of events) {
      const applied = {
        group: `model-${consumer}`,
        partition: 0,
        nextOffset: 1n,
        epoch: this.#bench.epoch(),
      };
      // oxlint-disable-next-line no-await-in-loop
      const [result] = await this.#bench.apply[consumer].applyBatch({ events: [event], applied });
      expect(['new', 'repeat']).toContain(result?.kind);
      happenings.push({
        what: `${consumer} applies ${JSON.stringify(event)}`,
        after: (state) => [applyImpression(state, consumer, event)],
        follows: happenings.at(-1),
      });
    }
    return happenings;
  }

  /** Until the short break is over on any clock. */
  async #expire(): Promise<void> {
    const overAt = this.#breakAt(SHORT_BREAK, 2) + 3 + this.#bench.world.graceMs;
    await waitFor(() => Date.now() > overAt, { what: 'the short break is over' });
    this.#log.push('the short break is over');
  }

  /** What Redis holds is what the model holds, each impression once; and both processes say what the laws say about it. */
  async #isRightAtTheEnd(): Promise<void> {
    const laid = this.#states.map((state) => state.ghosts.reduce(layGhost, state));
    const state = await waitFor(
      async () => {
        const { history, window, reservations, nowMs } = await this.#bench.store.inspect(this.#deviceId);
        const held = (one: Pick<DeviceState, 'reservations'>) =>
          one.reservations
            .filter(({ expiresAt }) => expiresAt > nowMs)
            .map(({ id, at, slot, expiresAt }) => [id, at, slot, expiresAt].join(' '))
            .toSorted();
        const found = [prints(history), prints(window), held({ reservations })];
        const same = (one: DeviceState) =>
          JSON.stringify(found) ===
          JSON.stringify([[...one.history.keys()].toSorted(), [...one.window.keys()].toSorted(), held(one)]);
        return laid.find(same);
      },
      { what: `Redis holds what the model holds\n${this.#log.join('\n')}\n`, timeoutMs: 2_000 },
    );
    await Promise.all([0, 1].map((process) => this.#saysWhatTheLawsSay(process, state)));
  }

  async #saysWhatTheLawsSay(process: number, state: DeviceState): Promise<void> {
    const breakAt = this.#breakAt(process, 1);
    const from = Date.now();
    const { body } = await this.#bench.post(process, '/v1/selections', {
      deviceId: this.#deviceId,
      breakId: 'look',
      breakAt,
      candidates: ADS,
    });
    if (!isAnswer(body) || 'granted' in body) throw new Error(JSON.stringify(body));
    if (body.source === 'open') {
      this.#excuseOpen(body, { from, to: Date.now() });
      return;
    }
    const said = body.candidates.map(({ allowed, remaining, nextAllowedAt }) => ({
      allowed,
      remaining,
      nextAllowedAt,
    }));
    const expected = instantsBetween(state, { from, to: Date.now() }).map((nowMs) => {
      const world = {
        ruleSet: ruleSetOf(body.rulesVersion ?? 0),
        watched: [...state.history.values()].map(asOracle),
        reserved: state.reservations.filter(({ expiresAt }) => expiresAt > nowMs).map(asOracleReservation),
        context: {},
      };
      return ADS.map((ad) => {
        const { allowed, remaining, nextAllowedAt } = askOracle(world, oracleAdOf(ad), breakAt);
        return { allowed, remaining, nextAllowedAt };
      });
    });
    if (expected.some((one) => isDeepStrictEqual(one, said))) return;
    throw new Error(
      `${JSON.stringify(body)}\nshould be one of ${JSON.stringify(expected)}\n${this.#log.join('\n')}`,
    );
  }
}

const prints = (records: readonly { fingerprint: string }[]): string[] =>
  records.map(({ fingerprint }) => fingerprint).toSorted();

type Words = {
  creativeId: string;
  campaignId?: string | undefined;
  brandId?: string | undefined;
  industryIds: readonly string[];
  exempt?: boolean;
};

const oracleAdOf = (ad: Words): OracleAd => ({
  creative: ad.creativeId,
  campaign: ad.campaignId,
  brand: ad.brandId,
  industries: ad.industryIds,
  exempt: ad.exempt ?? false,
});

const asOracle = (event: ImpressionEvent): OracleView => ({ ...oracleAdOf(event), at: event.at });

/** The oracle knows ads by name: the name behind a reservation's creative is found again in the catalogue. */
const asOracleReservation = (reservation: DeviceState['reservations'][number]): OracleView => {
  const ad = ADS.find(({ creativeId }) => valueKeyOf(creativeId) === reservation.creative);
  if (ad === undefined) throw new Error('a reservation of no ad');
  return { ...oracleAdOf(ad), at: reservation.at };
};

/** A reservations answer in the shape of a selection; it says nothing of what was granted as a candidate. */
const asSelection = (body: ReservationsAnswer): SelectionAnswer => ({
  ...body,
  pod: body.granted,
  candidates: body.refused,
  unfilled: 0,
});
