import { compileRules } from '@adcap/rule-engine';
import type { HttpServer } from '@adcap/service-runtime';

/** A cap on each rung: every step of a decision is taken. */
export const WARM_UP_RULES = compileRules({
  version: 0,
  dimensions: {},
  rules: (['creative', 'campaign', 'brand', 'industry'] as const).map((dimension) => ({
    id: dimension,
    dimension,
    limit: { max: 2, window: '60m' },
  })),
});

/** No viewer: an id with a blank at its end names nobody elsewhere. */
const DEVICE = 'adcap warm-up ';
const DECISIONS = 400;
const CANDIDATES = 20;
/** What a start may spend on it. */
const LONGEST_MS = 2_000;

const candidates = Array.from({ length: CANDIDATES }, (_, index) => ({
  creativeId: `creative ${index}`,
  campaignId: `campaign ${index}`,
  brandId: `brand ${index}.example`,
  industryIds: ['industry'],
  durationMs: 30_000,
}));

/**
 * Decides for nobody until the code has been compiled and Redis has the scripts: the first decisions of a cold process
 * take several times their deadline, and would be answered degraded after every start. Asks a server that nobody listens
 * to, the whole way from its text to its text. Failure policy: gives up where an answer is open, as with Redis away.
 */
export const warmUp = async (server: HttpServer, nowMs: () => number): Promise<void> => {
  const post = async (url: string, payload: object): Promise<string> => {
    const { body } = await server.inject({ method: 'POST', url, payload });
    return body;
  };
  const endsAt = performance.now() + LONGEST_MS;
  for (let index = 0; index < DECISIONS && performance.now() < endsAt; index += 1) {
    const device = { deviceId: DEVICE, breakId: `warm-up ${index}` };
    // One after the other, as a device is.
    // oxlint-disable-next-line no-await-in-loop
    const answer = await post('/v1/selections', { ...device, breakAt: nowMs(), slots: 4, candidates });
    // oxlint-disable-next-line no-await-in-loop
    await post('/v1/reservations/release', device);
    if (answer.includes('"source":"open"')) return;
  }
};
