import { DIMENSIONS } from '@adcap/contracts';
import type { CompiledRules } from '@adcap/rule-engine';
import type { RuleCounts } from './domain/rule-counts.ts';

const idsOf = (rules: CompiledRules | undefined): ReadonlySet<string> =>
  new Set(
    rules === undefined
      ? []
      : DIMENSIONS.flatMap((dimension) =>
          [rules.generic[dimension], ...rules.specific[dimension].values()].flat().map(({ id }) => id),
        ),
  );

/**
 * What each rule in force has done since it came into force; what is gone is forgotten, so there are never more than
 * there are rules. A rule that is changed under its id goes on.
 */
export class RuleTotals {
  readonly #rules: () => CompiledRules | undefined;
  readonly #totals = new Map<string, RuleCounts>();
  #known: CompiledRules | undefined;
  #ids: ReadonlySet<string> = new Set();

  constructor(rules: () => CompiledRules | undefined) {
    this.#rules = rules;
  }

  add(counts: ReadonlyMap<string, RuleCounts>): void {
    this.#forget();
    for (const [ruleId, { evaluated, near, blocked, shadowBlocked }] of counts) {
      // One that was decided under the set before.
      if (!this.#ids.has(ruleId)) continue;
      const total = this.#totals.get(ruleId);
      if (total === undefined) {
        this.#totals.set(ruleId, { evaluated, near, blocked, shadowBlocked });
        continue;
      }
      total.evaluated += evaluated;
      total.near += near;
      total.blocked += blocked;
      total.shadowBlocked += shadowBlocked;
    }
  }

  /** The rules that any candidate has met. */
  all(): ReadonlyMap<string, RuleCounts> {
    this.#forget();
    return this.#totals;
  }

  #forget(): void {
    const rules = this.#rules();
    if (rules === this.#known) return;
    this.#known = rules;
    this.#ids = idsOf(rules);
    for (const ruleId of this.#totals.keys()) if (!this.#ids.has(ruleId)) this.#totals.delete(ruleId);
  }
}
