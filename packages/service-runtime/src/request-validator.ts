import { AppError, type FieldError } from '@adcap/contracts';
import type { FastifySchemaCompiler } from 'fastify';
import { z } from 'zod';

/** A request with hundreds of wrong entries is told the first ones, not answered with a megabyte. */
const MAX_FIELD_ERRORS = 100;

const plain = (message: string): string => message.replace(/^Invalid input: /, '');

const unionMessage = (branches: readonly z.core.$ZodIssue[][]): string => {
  const readable = branches.map((issues) =>
    issues.map(({ path, message }) => [...path.map(String), plain(message)].join(' ')).join(', '),
  );
  return [...new Set(readable)].join('; or ');
};

const toFieldErrors = (issue: z.core.$ZodIssue, prefix: readonly string[]): FieldError[] => {
  const path = [...prefix, ...issue.path.map(String)];
  const field = path.length === 0 ? 'body' : path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: [...path, key].join('.'), message: 'is not a known field' }));
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    return [{ field, message: unionMessage(issue.errors) }];
  }
  return [{ field, message: plain(issue.message) }];
};

const invalidRequest = (error: z.core.$ZodError, httpPart: string): AppError => {
  const prefix = httpPart === 'body' ? [] : [httpPart];
  const fields = error.issues.flatMap((issue) => toFieldErrors(issue, prefix));
  const [first] = fields;
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more)` : '';
  const detail = first === undefined ? 'not valid' : `${first.field}: ${first.message}${more}`;
  return new AppError('ADCAP_REQUEST_INVALID', detail, { fields: fields.slice(0, MAX_FIELD_ERRORS) });
};

/** Fastify's validator over zod whose refusals name each field: `candidates.3.creativeId`, `querystring.at`. */
export const requestValidatorCompiler: FastifySchemaCompiler<z.core.$ZodType> = ({ schema, httpPart }) => {
  return (data: unknown) => {
    const result = z.safeParse(schema, data);
    if (result.success) return { value: result.data };
    return { error: invalidRequest(result.error, httpPart ?? 'body') };
  };
};
