import { deadLetter, drop, type Outcome, ok, retry } from '@adcap/kafka-bus';
import type { ApplyResult } from '@adcap/redis-windows';

/**
 * Law 14: what was or need not be counted is done with; what Redis could not do yet is tried again; what it can never
 * do is set aside.
 */
export const outcomeOf = (result: ApplyResult): Outcome => {
  switch (result.kind) {
    case 'new':
    case 'repeat':
      return ok;
    case 'erased':
    case 'expired':
      return drop(result.kind);
    case 'failed':
      return result.retryable ? retry('store', result.error) : deadLetter('store_refused', result.error);
  }
};
