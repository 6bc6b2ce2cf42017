import type { AppError } from '@adcap/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PROBLEM_MEDIA_TYPE, problemOf, toAppError } from './problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What was answered as a problem. */
    failure: AppError | undefined;
  }
}

/** Long enough for a broken connection to come back, short enough that no batch waits for nothing. */
const RETRY_AFTER_SECONDS = '1';

/** A retryable failure is told by metrics and the circuit breaker; an unforeseen one must wake someone. */
const logFailure = (thrown: unknown, failure: AppError, request: FastifyRequest): void => {
  const bindings = {
    err: failure.cause ?? thrown,
    code: failure.code,
    method: request.method,
    route: request.routeOptions.url,
    requestId: request.id,
  };
  if (failure.retryable) request.log.warn(bindings, 'request failed, may be retried');
  else request.log.error(bindings, 'request failed');
};

/** Answers any error as problem+json; fastify's error handler and its handler of framework errors. */
export const answerProblem = (
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
  const failure = toAppError(thrown);
  request.failure = failure;
  const isOurFault = failure.status >= 500;
  if (isOurFault) logFailure(thrown, failure, request);
  if (failure.retryable && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_AFTER_SECONDS);
  const problem = problemOf(failure, isOurFault ? `urn:adcap:request:${request.id}` : undefined);
  // As bytes, so that neither a route's response schema nor an added charset touches it.
  return reply
    .code(failure.status)
    .header('content-type', PROBLEM_MEDIA_TYPE)
    .send(Buffer.from(JSON.stringify(problem)));
};
