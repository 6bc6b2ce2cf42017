/** Why impressions were not taken. */
export class BeaconClientError extends Error {
  override readonly name = 'BeaconClientError';
  /** None where no answer came. */
  readonly status: number | undefined;
  /** Whether the same batch may be sent again; what was counted already is counted once. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: { status?: number; retryable: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = options.status;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
  }
}
