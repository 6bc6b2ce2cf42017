import type { SelectionAnswer } from '@adcap/contracts';

/** Why the client itself had to answer. A closed set: it may label metrics. */
export const CLIENT_REASONS = [
  /** No whole answer within `timeoutMs`. */
  'client_timeout',
  /** No connection, or one that broke. */
  'client_unreachable',
  /** Another status than 200; `clientError` says which. */
  'client_status',
  /** A 200 whose body is no answer to this request. */
  'client_bad_answer',
  /** The request cannot be written as JSON. */
  'client_bad_request',
] as const;
export type ClientReason = (typeof CLIENT_REASONS)[number];

export type ClientFault = { reason: ClientReason; message: string; status?: number };

/** What a caller works with: the service's answer, or the client's own of the same shape. */
export type SelectionResult = Omit<SelectionAnswer, 'degradedReason'> & {
  degradedReason?: SelectionAnswer['degradedReason'] | ClientReason;
  /** For the caller's log, where the client had to answer itself. */
  clientError?: Omit<ClientFault, 'reason'>;
};
