import type { SelectionAnswer, SelectionRequestInput } from '@adcap/contracts';
import { openResult } from './open-result.ts';
import type { ClientFault, SelectionResult } from './selection-result.ts';
import { timeLimit } from './time-limit.ts';

export type SelectionClientOptions = {
  /** Where ad selection is, such as `http://ad-selection:8082`. */
  baseUrl: string;
  /** How long one call may take, connection and body included: what is left of the caller's own budget. */
  timeoutMs?: number;
  /** Instead of the platform's own, for a caller with its own connections. */
  fetch?: typeof globalThis.fetch;
};

export type SelectionClient = {
  /** Never rejects: whatever goes wrong, the break is answered `open` and `degraded`, with a reason. */
  select(request: SelectionRequestInput): Promise<SelectionResult>;
};

const DEFAULT_TIMEOUT_MS = 50;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** As much as a caller relies on; a newer service may say more than this release knows. */
const isAnswerTo = (request: SelectionRequestInput, value: unknown): value is SelectionAnswer =>
  isObject(value) &&
  typeof value['source'] === 'string' &&
  typeof value['degraded'] === 'boolean' &&
  Array.isArray(value['pod']) &&
  Array.isArray(value['candidates']) &&
  value['candidates'].length === request.candidates.length;

const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
};

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';

const faultOf = (error: unknown): ClientFault => {
  if (isTimeout(error)) return { reason: 'client_timeout', message: messageOf(error) };
  if (error instanceof SyntaxError) return { reason: 'client_bad_answer', message: messageOf(error) };
  return { reason: 'client_unreachable', message: messageOf(error) };
};

const toJson = (request: SelectionRequestInput): string | ClientFault => {
  try {
    return JSON.stringify(request);
  } catch (error) {
    return { reason: 'client_bad_request', message: messageOf(error) };
  }
};

/** Throws where the base URL or the timeout is none; after that nothing throws. */
export const createSelectionClient = ({
  baseUrl,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  fetch = globalThis.fetch,
}: SelectionClientOptions): SelectionClient => {
  const url = new URL('v1/selections', baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  const limitMs = timeLimit(timeoutMs);

  const ask = async (
    request: SelectionRequestInput,
    body: string,
  ): Promise<SelectionAnswer | ClientFault> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(limitMs),
    });
    const text = await response.text();
    if (response.status !== 200)
      return { reason: 'client_status', message: text.slice(0, 1_000), status: response.status };
    const answer: unknown = JSON.parse(text);
    return isAnswerTo(request, answer)
      ? answer
      : { reason: 'client_bad_answer', message: 'it is no answer to this request', status: 200 };
  };

  return {
    select: async (request) => {
      const body = toJson(request);
      const outcome = typeof body === 'string' ? await ask(request, body).catch(faultOf) : body;
      return 'reason' in outcome ? openResult(request, outcome, Date.now()) : outcome;
    },
  };
};
