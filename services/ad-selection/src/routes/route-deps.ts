import type { EpochMs } from '@adcap/contracts';
import type { DecisionStore } from '@adcap/redis-windows';
import type { CompiledRules } from '@adcap/rule-engine';
import type { createRoleReader, requireRole } from '@adcap/service-runtime';
import type { DecideInTurn } from '../decide-in-turn.ts';

export type RouteDeps = {
  decider: DecideInTurn;
  store: Pick<DecisionStore, 'release' | 'inspect' | 'erase'>;
  rules: () => CompiledRules | undefined;
  nowMs: () => EpochMs;
  retentionMs: number;
  requireOperator: ReturnType<typeof requireRole>;
  roleOf: ReturnType<typeof createRoleReader>;
};
