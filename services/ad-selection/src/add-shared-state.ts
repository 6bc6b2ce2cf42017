import type { EpochMs } from '@adcap/contracts';
import type { CheckResult, Health, HttpServer } from '@adcap/service-runtime';
import type { Registry } from 'prom-client';
import type { AdSelectionConfig } from './config.ts';
import type { FollowedState } from './follow-shared-state.ts';
import { isBehind } from './freshness.ts';
import { addSharedStateGauges } from './metrics.ts';
import { addSwitchRoutes, type SwitchRouteDeps } from './routes/switches.ts';

type Deps = Omit<SwitchRouteDeps, 'switches'> & {
  config: Pick<AdSelectionConfig, 'ADCAP_AD_SELECTION_STALE_AFTER_MS'>;
  shared: Pick<FollowedState, 'oldestAsOf' | 'switches'>;
  health: Health;
  registry: Registry;
};

const secondsSince = (asOf: EpochMs | undefined, nowMs: EpochMs): number =>
  asOf === undefined ? Number.NaN : Math.max(0, nowMs - asOf) / 1_000;

/** Shows what is followed beside the decisions: its routes, its lines in /readyz and its numbers. */
export const addSharedState = (server: HttpServer, deps: Deps): void => {
  const { shared, nowMs, health, registry } = deps;
  const staleAfterMs = deps.config.ADCAP_AD_SELECTION_STALE_AFTER_MS;

  const describeAsOf = (): CheckResult => {
    const asOf = shared.oldestAsOf();
    if (asOf === undefined)
      return { ok: false, detail: 'up to when impressions are applied is not known: answers are degraded' };
    const detail = `impressions are applied up to ${secondsSince(asOf, nowMs())} s ago`;
    return { ok: !isBehind(asOf, { nowMs: nowMs(), staleAfterMs }), detail };
  };
  const describeSwitches = (): CheckResult => {
    const on = shared.switches.list().filter((one) => one.until !== null);
    if (on.length === 0) return { ok: true, detail: 'none is on' };
    return { ok: false, detail: on.map(({ name, until }) => `${name} until ${until}`).join(', ') };
  };

  health.register('informative', 'asOf', describeAsOf);
  health.register('informative', 'switches', describeSwitches);
  addSharedStateGauges(registry, {
    asOfAgeSeconds: () => secondsSince(shared.oldestAsOf(), nowMs()),
    switches: () => shared.switches.list(),
  });
  addSwitchRoutes(server, { ...deps, switches: shared.switches });
};
