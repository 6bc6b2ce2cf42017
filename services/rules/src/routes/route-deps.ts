import type { RuleBounds } from '@adcap/rule-engine';
import type { AuditTrail, Clock } from '@adcap/service-runtime';
import type { createAccess } from '../access.ts';
import type { RulesMetrics } from '../metrics.ts';
import type { PreviewRules } from '../preview-rules.ts';
import type { RuleBook } from '../rule-book.ts';
import type { RuleVersions } from '../rule-versions.ts';

export type RouteDeps = {
  book: RuleBook;
  versions: RuleVersions;
  bounds: RuleBounds;
  access: ReturnType<typeof createAccess>;
  audit: AuditTrail;
  clock: Clock;
  preview: PreviewRules;
  metrics: Pick<RulesMetrics, 'changes'>;
};
