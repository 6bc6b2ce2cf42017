import type { EpochMs } from '@adcap/contracts';
import type { CompiledRules } from '@adcap/rule-engine';
import type { AccessHook, AuditTrail, createBearerReader } from '@adcap/service-runtime';
import type { PatientStore } from '../adapters/patient-store.ts';
import type { DecideInTurn } from '../decide-in-turn.ts';
import type { AsOf } from '../freshness.ts';

export type RouteDeps = {
  decider: DecideInTurn;
  store: PatientStore;
  rules: () => CompiledRules | undefined;
  rulesAt: (at: EpochMs) => CompiledRules | undefined;
  nowMs: () => EpochMs;
  asOf: AsOf;
  retentionMs: number;
  requireOperator: AccessHook;
  bearerOf: ReturnType<typeof createBearerReader>;
  audit: AuditTrail;
};
