import type { RuleBounds } from '@adcap/rule-engine';
import type { createAccess } from '../access.ts';
import type { RulesMetrics } from '../metrics.ts';
import type { RuleBook } from '../rule-book.ts';

export type RouteDeps = {
  book: RuleBook;
  bounds: RuleBounds;
  access: ReturnType<typeof createAccess>;
  metrics: Pick<RulesMetrics, 'changes'>;
};
