import { Counter, Gauge, type Registry } from 'prom-client';
import type { CheckResult, Health } from './health.ts';

/** The rules in force as a process that follows them knows them. */
export type FollowedRules = {
  version(): number | null;
  source(): string | undefined;
  isLive(): boolean;
  refused(): { reason: string; detail: string; version?: number | undefined } | undefined;
  refusals(): Readonly<Record<string, number>>;
};

const refusalOf = (rules: FollowedRules): string[] => {
  const refused = rules.refused();
  if (refused === undefined) return [];
  const which = refused.version === undefined ? 'a set' : `version ${refused.version}`;
  return [`${which} was refused: ${refused.reason}, ${refused.detail}`];
};

const checkRules = (rules: FollowedRules, without: string): CheckResult => {
  const version = rules.version();
  const standing = version === null ? without : `version ${version} from ${rules.source()}`;
  const faults = [...(rules.isLive() || version === null ? [] : ['not followed live']), ...refusalOf(rules)];
  return { ok: version !== null && faults.length === 0, detail: [standing, ...faults].join('; ') };
};

/**
 * Shows which rules a process follows: `adcap_rules_version`, `adcap_rules_refused_total` and the check `rules` of /readyz.
 *
 * @param without what having no rules means to this service
 */
export const observeRules = (
  { registry, health }: { registry: Registry; health: Health },
  rules: FollowedRules,
  without: string,
): void => {
  const registers: Registry[] = [];
  const version: Gauge = new Gauge({
    name: 'adcap_rules_version',
    help: 'The version of the rules that this process has; 0 for those of the mounted file, NaN with none',
    registers,
    collect: () => version.set(rules.version() ?? Number.NaN),
  });
  const refused: Counter<'reason'> = new Counter({
    name: 'adcap_rules_refused_total',
    help: 'Rule sets that came and were not taken, by reason; the one in force stayed',
    labelNames: ['reason'],
    registers,
    collect: () => {
      refused.reset();
      for (const [reason, count] of Object.entries(rules.refusals())) refused.inc({ reason }, count);
    },
  });
  registry.registerMetric(version);
  registry.registerMetric(refused);
  health.register('informative', 'rules', () => checkRules(rules, without));
};
