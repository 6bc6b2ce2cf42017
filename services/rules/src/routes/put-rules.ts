import { AppError, type RuleFinding } from '@adcap/contracts';
import { type HttpServer, PROBLEM_MEDIA_TYPE, problemOf, problemSchema } from '@adcap/service-runtime';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { judgeBody } from '../judge-body.ts';
import type { ChangeResult } from '../rule-book.ts';
import { parseIfMatch } from './if-match.ts';
import type { RouteDeps } from './route-deps.ts';
import {
  etagOf,
  ruleSetAnswer,
  ruleSetAnswerSchema,
  ruleSetBodySchema,
  rulesProblemSchema,
} from './rule-set-schemas.ts';

const unavailableSchema = problemSchema.extend({
  state: z.enum(['unchanged', 'stored', 'unknown']).describe('What the failed change left'),
  version: z.number().int().optional().describe('The version that is stored, or may be'),
});

const invalid = (errors: readonly RuleFinding[]): AppError => {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const detail = `Rule ${first?.ruleId}, ${first?.field}: ${first?.message}${more}. The rules in force stay in force.`;
  return new AppError('ADCAP_RULES_INVALID', detail, { fields: errors });
};

const stale = (version: number): AppError =>
  new AppError('ADCAP_RULES_STALE', `Version ${version} is in force: read it, and send your change to that.`);

const tooLarge = (bytes: number): AppError =>
  new AppError('ADCAP_RULES_TOO_LARGE', `It has ${bytes} bytes as JSON. The rules in force stay in force.`);

type Failure = {
  code: 'ADCAP_BUS_UNAVAILABLE' | 'ADCAP_STORE_UNAVAILABLE';
  state: 'unchanged' | 'stored' | 'unknown';
  detail: string;
  version?: number;
};

/** A failed change tells what it leaves: sent again blindly, one that is stored would only be stale. */
const unavailable = (reply: FastifyReply, failure: Failure): FastifyReply => {
  const problem = { ...problemOf(new AppError(failure.code, failure.detail)), ...failure };
  if (failure.state === 'unchanged') reply.header('retry-after', '1');
  return reply
    .code(problem.status)
    .header('content-type', PROBLEM_MEDIA_TYPE)
    .send(Buffer.from(JSON.stringify(problem)));
};

const answer = (reply: FastifyReply, result: ChangeResult): FastifyReply => {
  switch (result.kind) {
    case 'published':
      return reply.header('etag', etagOf(result.record)).send(ruleSetAnswer(result.record));
    case 'stale':
      throw stale(result.version);
    case 'too_large':
      throw tooLarge(result.bytes);
    case 'unchanged':
      return unavailable(reply, {
        code: result.away === 'store' ? 'ADCAP_STORE_UNAVAILABLE' : 'ADCAP_BUS_UNAVAILABLE',
        state: 'unchanged',
        detail: `${result.detail} Nothing was changed: the same may be sent again.`,
      });
    case 'unpublished': {
      const { version } = result.record;
      const detail = `Version ${version} is stored and in force; it could not be published yet and will be as soon as possible. Do not send it again.`;
      return unavailable(reply, { code: 'ADCAP_BUS_UNAVAILABLE', state: 'stored', version, detail });
    }
    case 'unknown': {
      const detail = `The store went away in the middle: version ${result.version} may be in force or not. Read the rules before sending anything again.`;
      return unavailable(reply, {
        code: 'ADCAP_STORE_UNAVAILABLE',
        state: 'unknown',
        version: result.version,
        detail,
      });
    }
  }
};

export const addPutRulesRoute = (server: HttpServer, deps: RouteDeps): void => {
  server.put(
    '/v1/rules',
    {
      onRequest: deps.access.write,
      schema: {
        tags: ['rules'],
        summary: 'Replace the whole rule set',
        security: [{ bearer: [] }],
        headers: z.object({
          'if-match': z.string().optional().describe('The ETag of the set that is replaced'),
        }),
        body: ruleSetBodySchema,
        response: {
          200: ruleSetAnswerSchema,
          400: rulesProblemSchema,
          503: unavailableSchema,
          '4xx': problemSchema,
        },
      },
    },
    async (request, reply) => {
      const ifMatch = request.headers['if-match'];
      const count = (outcome: string): void => deps.metrics.changes.inc({ outcome });
      if (ifMatch === undefined) {
        count('unconditional');
        throw new AppError('ADCAP_RULES_IF_MATCH_MISSING', 'Send the ETag of GET /v1/rules as If-Match.');
      }
      const judged = judgeBody(request.body, deps.bounds);
      if (!judged.ok) {
        count('invalid');
        throw invalid(judged.errors);
      }
      const result = await deps.book.change({
        expectedVersion: parseIfMatch(ifMatch),
        draft: judged.draft,
        note: judged.note,
        author: request.role ?? 'nobody',
      });
      count(result.kind);
      if ('cause' in result)
        request.log.warn({ err: result.cause, outcome: result.kind }, 'rules not published');
      return answer(reply, result);
    },
  );
};
