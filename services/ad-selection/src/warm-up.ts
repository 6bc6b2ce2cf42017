import { epochMs } from '@adcap/contracts';
import { breakKeyOf, valueKeyOf } from '@adcap/identity';
import type { DecisionStore } from '@adcap/redis-windows';
import { compileRules } from '@adcap/rule-engine';
import { toEntries } from './domain/to-ad.ts';
import { createSelectBreak, type SelectDeps } from './select-break.ts';

/** No viewer: an id with a blank at its end names nobody elsewhere. */
const DEVICE = 'adcap warm-up ';
const DECISIONS = 30;
const CANDIDATES = 20;
const SLOTS = 4;
/** What a start may spend on it. */
const LONGEST_MS = 1_000;
const PATIENCE_MS = 200;

const RULES = compileRules({
  version: 0,
  dimensions: {},
  rules: (['creative', 'campaign', 'brand', 'industry'] as const).map((dimension) => ({
    id: dimension,
    dimension,
    limit: { max: 2, window: '60m' },
  })),
});

const candidates = Array.from({ length: CANDIDATES }, (_, index) => ({
  creativeId: `creative ${index}`,
  campaignId: `campaign ${index}`,
  brandId: `brand ${index}`,
  industryIds: ['industry'],
}));

/**
 * Decides for nobody until the code has been compiled and Redis has the scripts: the first decision of a cold process
 * takes several times its deadline, and would be answered degraded after every start. Failure policy: gives up where
 * Redis is away; never throws.
 */
export const warmUp = async (
  deps: Omit<SelectDeps, 'rules'>,
  store: Pick<DecisionStore, 'release'>,
): Promise<void> => {
  const { select } = createSelectBreak({ ...deps, rules: () => RULES });
  const endsAt = performance.now() + LONGEST_MS;
  for (let index = 0; index < DECISIONS && performance.now() < endsAt; index += 1) {
    const breakId = `warm-up ${index}`;
    try {
      // One after the other, as a device is.
      // oxlint-disable-next-line no-await-in-loop
      await select(
        {
          deviceId: DEVICE,
          sessionId: undefined,
          breakId,
          round: 1,
          breakAt: epochMs(deps.nowMs()),
          context: {},
          slots: Array.from({ length: SLOTS }, () => ({})),
          podDurationMs: undefined,
          reserve: true,
          isFixed: false,
          explain: 'nothing',
          entries: toEntries(candidates, valueKeyOf),
        },
        PATIENCE_MS,
      );
      // oxlint-disable-next-line no-await-in-loop
      await store.release({ deviceId: DEVICE, breakKey: breakKeyOf(undefined, breakId) });
    } catch {
      return;
    }
  }
};
