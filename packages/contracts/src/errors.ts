/**
 * Every error code of the suite with the HTTP status it maps to and whether the same call may work later.
 * A retired code is never reused and stays listed.
 */
export const ERROR_CODES = {
  ADCAP_REQUEST_INVALID: { status: 400, retryable: false, title: 'The request is not valid' },
  ADCAP_REQUEST_MALFORMED: { status: 400, retryable: false, title: 'The request cannot be read' },
  ADCAP_REQUEST_TOO_LARGE: { status: 413, retryable: false, title: 'The request is too large' },
  ADCAP_REQUEST_MEDIA_TYPE: { status: 415, retryable: false, title: 'The media type is not supported' },
  ADCAP_ROUTE_UNKNOWN: { status: 404, retryable: false, title: 'There is no such resource' },
  ADCAP_ROUTE_METHOD: { status: 405, retryable: false, title: 'The method is not allowed here' },
  ADCAP_AUTH_MISSING: { status: 401, retryable: false, title: 'A valid bearer token is needed' },
  ADCAP_AUTH_ROLE: { status: 403, retryable: false, title: 'The role of this token does not allow it' },
  ADCAP_RATE_LIMITED: { status: 429, retryable: true, title: 'Too many requests' },
  ADCAP_IMPRESSIONS_ALL_REJECTED: { status: 400, retryable: false, title: 'Every impression was rejected' },
  ADCAP_IMPRESSIONS_NOT_STORED: {
    status: 503,
    retryable: true,
    title: 'The impressions could not be stored',
  },
  ADCAP_BREAK_OUT_OF_RANGE: {
    status: 400,
    retryable: false,
    title: 'The break is too far in the past or future',
  },
  ADCAP_BREAK_EXPIRED: { status: 400, retryable: false, title: 'The break is over and cannot be reserved' },
  ADCAP_BREAK_ROUND_CONFLICT: {
    status: 409,
    retryable: false,
    title: 'The round does not follow the stored pod',
  },
  ADCAP_RESERVATIONS_FULL: { status: 409, retryable: false, title: 'The device holds too many reservations' },
  ADCAP_RULES_INVALID: { status: 400, retryable: false, title: 'The rule set is not valid' },
  ADCAP_RULES_UNKNOWN_RULE: { status: 404, retryable: false, title: 'There is no rule of this id' },
  ADCAP_RULES_DUPLICATE: { status: 409, retryable: false, title: 'There is a rule of this id already' },
  ADCAP_RULES_UNKNOWN_VERSION: {
    status: 404,
    retryable: false,
    title: 'This version of the rules is not kept',
  },
  ADCAP_RULES_STALE: { status: 412, retryable: false, title: 'The rules have changed since they were read' },
  ADCAP_RULES_IF_MATCH_MISSING: { status: 428, retryable: false, title: 'If-Match is required' },
  ADCAP_RULES_TOO_LARGE: {
    status: 413,
    retryable: false,
    title: 'The rule set is larger than a message may be',
  },
  ADCAP_RULES_PREVIEW_BUSY: {
    status: 429,
    retryable: true,
    title: 'Another preview is being made',
  },
  ADCAP_STORE_UNAVAILABLE: { status: 503, retryable: true, title: 'The store cannot be reached' },
  ADCAP_BUS_UNAVAILABLE: { status: 503, retryable: true, title: 'The event stream cannot be reached' },
  ADCAP_INTERNAL: { status: 500, retryable: false, title: 'Something went wrong on our side' },
} as const satisfies Record<string, { status: number; retryable: boolean; title: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** One wrong field: where it is (`candidates.3.creativeId`) and what is wrong with it. */
export type FieldError = { field: string; message: string };

/** The one error class of the suite; its code says status, title and whether a retry makes sense. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly fields: readonly FieldError[];

  constructor(
    code: ErrorCode,
    detail: string,
    options: { fields?: readonly FieldError[]; cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.fields = options.fields ?? [];
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }
}
