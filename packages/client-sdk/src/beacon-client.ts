import { type ImpressionItemInput, type ImpressionsAnswer, impressionsAnswerSchema } from '@adcap/contracts';
import { BeaconClientError } from './beacon-client-error.ts';
import { timeLimit } from './time-limit.ts';

export type BeaconClientOptions = {
  /** Where the beacon is, such as `https://beacon.example`. */
  baseUrl: string;
  timeoutMs?: number;
  /** Instead of the platform's own, for a caller with its own connections. */
  fetch?: typeof globalThis.fetch;
};

export type ImpressionBatch = {
  /** The clock of `playedAt` at the moment of sending; without it `playedAt` is not believed. */
  sentAt?: number | string;
  impressions: readonly ImpressionItemInput[];
};

export type BeaconClient = {
  /**
   * Tells what was watched. Resolves once it is stored; single items may be `rejected` in the answer all the same.
   *
   * @throws {BeaconClientError} when nothing was taken, with whether the same batch may be sent again
   */
  post(batch: ImpressionBatch): Promise<ImpressionsAnswer>;
};

const DEFAULT_TIMEOUT_MS = 10_000;
const TOO_MANY_REQUESTS = 429;

const isRetryable = (status: number): boolean => status >= 500 || status === TOO_MANY_REQUESTS;

const retryAfterMs = (response: Response): number | undefined => {
  const header = response.headers.get('retry-after') ?? '';
  return /^\d+$/.test(header) ? Number(header) * 1_000 : undefined;
};

const parseAnswer = (text: string): ImpressionsAnswer => {
  try {
    return impressionsAnswerSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new BeaconClientError('the beacon’s answer cannot be read', { retryable: true, cause });
  }
};

/** Throws where the base URL or the timeout is none. */
export const createBeaconClient = ({
  baseUrl,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  fetch = globalThis.fetch,
}: BeaconClientOptions): BeaconClient => {
  const url = new URL('v1/impressions', baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  const limitMs = timeLimit(timeoutMs);

  const send = async (body: string): Promise<{ response: Response; text: string }> => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(limitMs),
      });
      return { response, text: await response.text() };
    } catch (cause) {
      throw new BeaconClientError('the beacon cannot be reached', { retryable: true, cause });
    }
  };

  return {
    post: async (batch) => {
      const { response, text } = await send(JSON.stringify(batch));
      const { status } = response;
      if (response.ok) return parseAnswer(text);
      throw new BeaconClientError(`the beacon answered ${status}: ${text.slice(0, 1_000)}`, {
        status,
        retryable: isRetryable(status),
        retryAfterMs: retryAfterMs(response),
      });
    },
  };
};
