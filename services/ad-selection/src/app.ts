import { type EpochMs, LIMITS } from '@adcap/contracts';
import type { ReservationTokens } from '@adcap/identity';
import type { DecisionStore } from '@adcap/redis-windows';
import type { CompiledRules } from '@adcap/rule-engine';
import {
  type AuditTrail,
  type Clock,
  createBearerReader,
  createHealth,
  createHttpServer,
  createRateLimits,
  type Health,
  type HttpServer,
  type Logger,
  requireRole,
} from '@adcap/service-runtime';
import { Registry } from 'prom-client';
import { createCompleteReading } from './adapters/complete-reading.ts';
import type { DecisionLog } from './adapters/decision-log.ts';
import { createGuardedRead } from './adapters/guarded-read.ts';
import { createLateCommits } from './adapters/late-commits.ts';
import { createPatientStore } from './adapters/patient-store.ts';
import { createReservationKeeper } from './adapters/reservation-keeper.ts';
import { addSharedState } from './add-shared-state.ts';
import type { AdSelectionConfig } from './config.ts';
import { createDecideInTurn } from './decide-in-turn.ts';
import type { FollowedState } from './follow-shared-state.ts';
import { createFreshness } from './freshness.ts';
import { createMetrics } from './metrics.ts';
import { addDeviceRoutes } from './routes/devices.ts';
import { addReservationRoutes } from './routes/reservations.ts';
import { addSelectionRoutes } from './routes/selections.ts';
import { createSelectBreak } from './select-break.ts';
import { WARM_UP_RULES, warmUp } from './warm-up.ts';

export type AppDeps = {
  config: AdSelectionConfig;
  logger: Logger;
  clock: Clock;
  registry: Registry;
  health: Health;
  store: DecisionStore;
  rules: () => CompiledRules | undefined;
  /** The rules in force at an instant up to now; `undefined` where they are not known. */
  rulesAt: (at: EpochMs) => CompiledRules | undefined;
  shared: Pick<FollowedState, 'asOf' | 'oldestAsOf' | 'switches'>;
  tokens: Pick<ReservationTokens, 'sign'>;
  /** Who looked at which device. */
  audit: AuditTrail;
  /** Whether to decide for nobody before the first request, so that it is not answered by cold code. */
  isWarm: boolean;
  /** Given what counts its dropped records. */
  decisionLog: (onDropped: () => void) => DecisionLog;
};

const VERSION = '0.1.0';
/** Cold code takes longer than a deadline. */
const COLD_DEADLINE_MS = 200;

/** Warms the code of this app with another one of the same kind, of which nothing is counted, noted or listened to. */
const warmTwin = async (deps: AppDeps): Promise<void> => {
  const twin = await buildApp({
    ...deps,
    isWarm: false,
    config: { ...deps.config, ADCAP_AD_SELECTION_DEADLINE_MS: COLD_DEADLINE_MS },
    registry: new Registry(),
    health: createHealth(),
    rules: () => WARM_UP_RULES,
    decisionLog: () => () => undefined,
  });
  try {
    await warmUp(twin, () => deps.clock.nowMs());
  } finally {
    await twin.close();
  }
};

/** Ad selection over HTTP; add nothing and `listen`. */
export const buildApp = async (deps: AppDeps): Promise<HttpServer> => {
  const { config, clock, logger, health, rules, store, shared } = deps;
  const server = await createHttpServer({
    name: 'ad-selection',
    version: VERSION,
    title: 'adcap ad selection',
    description: 'Remaining quotas at a break’s absolute time, and a pod that is filled and reserved.',
    logger,
    registry: deps.registry,
    health,
    bodyLimitBytes: LIMITS.bodyBytes,
    trustProxy: false,
    requestTimeoutMs: config.ADCAP_AD_SELECTION_REQUEST_TIMEOUT_MS,
  });
  const metrics = createMetrics(deps.registry, { inFlight: () => decider.inFlight(), rules });
  const onFailure = (err: unknown, message: string): void => logger.debug({ err }, message);
  const read = createGuardedRead(store, config.ADCAP_AD_SELECTION_DEADLINE_MS);
  const nowMs = () => clock.nowMs();
  const late = createLateCommits({ store, nowMs, onUndone: () => metrics.undone.inc(), onFailure });
  server.addHook('onClose', async () => {
    read.close();
    late.close();
  });
  const selecting = {
    read,
    complete: createCompleteReading({ store, onFailure }),
    decideFrom: () =>
      shared.switches.isOn('decide-from-history') ? 'history' : config.ADCAP_AD_SELECTION_DECIDE_FROM,
    freshness: createFreshness({
      asOf: shared.asOf,
      nowMs,
      staleAfterMs: config.ADCAP_AD_SELECTION_STALE_AFTER_MS,
    }),
    keep: createReservationKeeper({ store, late, onFailure }),
    tokens: deps.tokens,
    nowMs,
    graceMs: config.ADCAP_RESERVATION_GRACE_MS,
    onConflict: () => metrics.conflicts.inc(),
  };
  const decider = createDecideInTurn({
    selectBreak: createSelectBreak({ ...selecting, rules }),
    metrics,
    log: deps.decisionLog(() => metrics.logDropped.inc()),
    deadlineMs: config.ADCAP_AD_SELECTION_DEADLINE_MS,
    maxInFlight: config.ADCAP_AD_SELECTION_MAX_IN_FLIGHT,
    isSwitchedOpen: () => shared.switches.isOn('answer-open'),
  });
  health.register('informative', 'decisions', () =>
    read.lastFailure() === undefined
      ? { ok: true }
      : { ok: false, detail: `answered open: ${read.lastFailure()}` },
  );
  const patientStore = createPatientStore(store);
  const tokens = {
    viewer: config.ADCAP_TOKEN_VIEWER,
    editor: config.ADCAP_TOKEN_EDITOR,
    operator: config.ADCAP_TOKEN_OPERATOR,
  };
  const limits = await createRateLimits(server, {
    perPeer: config.ADCAP_RATE_LIMIT_PEER,
    perActor: config.ADCAP_RATE_LIMIT_ACTOR,
    registry: deps.registry,
  });
  const routeDeps = {
    decider,
    store: patientStore,
    rules,
    rulesAt: deps.rulesAt,
    nowMs,
    asOf: shared.asOf,
    retentionMs: config.ADCAP_RETENTION_MS,
    requireOperator: limits.around(requireRole(tokens, 'operator')),
    bearerOf: createBearerReader(tokens),
    audit: deps.audit,
  };
  addSelectionRoutes(server, routeDeps);
  addReservationRoutes(server, routeDeps);
  addDeviceRoutes(server, routeDeps);
  addSharedState(server, { ...deps, ...routeDeps });
  if (deps.isWarm) await warmTwin(deps);
  return server;
};
