import { AppError, ERROR_CODES, type ErrorCode } from '@adcap/contracts';
import { z } from 'zod';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

const isErrorCode = (name: string): name is ErrorCode => name in ERROR_CODES;

/** The body of every error answer (RFC 9457); routes name it in their response schemas. */
export const problemSchema = z
  .object({
    type: z.string().describe('A URN made of the code'),
    title: z.string().describe('What this code means, the same in every answer'),
    status: z.int().describe('The HTTP status'),
    detail: z.string().describe('What was wrong this time'),
    code: z.enum(Object.keys(ERROR_CODES).filter(isErrorCode)).describe('Stable: for programs'),
    instance: z.string().optional().describe('Names this occurrence, as the log does'),
    errors: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .optional()
      .describe('Each wrong field'),
  })
  .describe('An error (RFC 9457)');

export type Problem = z.output<typeof problemSchema>;

/** What the framework refuses by itself; everything else it may throw is judged by its status. */
const FRAMEWORK_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: [
    'ADCAP_REQUEST_MALFORMED',
    'The body is not valid JSON or holds a forbidden key.',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['ADCAP_REQUEST_MALFORMED', 'The body is empty.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'ADCAP_REQUEST_MALFORMED',
    'The body is not as long as Content-Length says.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['ADCAP_REQUEST_TOO_LARGE', 'The body is larger than this service takes.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['ADCAP_REQUEST_MEDIA_TYPE', 'Send the body as application/json.'],
  FST_ERR_BAD_URL: ['ADCAP_REQUEST_MALFORMED', 'The path has broken percent-encoding.'],
  FST_ERR_MAX_PARAM_LENGTH: ['ADCAP_REQUEST_INVALID', 'A part of the path is too long.'],
};

const INTERNAL_DETAIL = 'The cause is in the log of this service.';

const clientStatus = (error: object): number | undefined => {
  const status = 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
};

/** Whatever was thrown as an error of the suite; what nobody foresaw is ADCAP_INTERNAL. */
export const toAppError = (thrown: unknown): AppError => {
  if (thrown instanceof AppError) return thrown;
  if (typeof thrown !== 'object' || thrown === null) {
    return new AppError('ADCAP_INTERNAL', INTERNAL_DETAIL, { cause: thrown });
  }
  const known = 'code' in thrown ? FRAMEWORK_ERRORS[String(thrown.code)] : undefined;
  if (known !== undefined) return new AppError(known[0], known[1], { cause: thrown });
  const status = clientStatus(thrown);
  if (status === 404) return new AppError('ADCAP_ROUTE_UNKNOWN', 'There is nothing here.', { cause: thrown });
  if (status !== undefined) {
    return new AppError('ADCAP_REQUEST_MALFORMED', 'The request cannot be read.', { cause: thrown });
  }
  return new AppError('ADCAP_INTERNAL', INTERNAL_DETAIL, { cause: thrown });
};

const safeDetail = (error: AppError): string => {
  if (error.status < 500) return error.message;
  return error.retryable ? 'The same request may be sent again.' : INTERNAL_DETAIL;
};

/** The answer for an error. A 5xx never carries the error's own message: that may hold what callers must not see. */
export const problemOf = (error: AppError, instance?: string): Problem => ({
  type: `urn:adcap:error:${error.code}`,
  title: ERROR_CODES[error.code].title,
  status: error.status,
  detail: safeDetail(error),
  code: error.code,
  ...(instance === undefined ? {} : { instance }),
  ...(error.fields.length === 0 ? {} : { errors: [...error.fields] }),
});
