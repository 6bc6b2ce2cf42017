import { AppError, type RuleSetDraft } from '@adcap/contracts';
import { parseRuleSet, type RuleBounds } from '@adcap/rule-engine';
import { type HttpServer, PROBLEM_MEDIA_TYPE, problemOf, problemSchema } from '@adcap/service-runtime';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
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

/** Beside the set itself: what GET has answered with it, and why it is changed. */
const FURTHER_FIELDS = ['version', 'note'];
const noteSchema = z.object({ note: z.string().max(1_000).optional() });

const unavailableSchema = problemSchema.extend({
  state: z.enum(['unchanged', 'stored', 'unknown']).describe('What the failed change left'),
  version: z.number().int().optional().describe('The version that is stored, or may be'),
});

const readDraft = (body: unknown, bounds: RuleBounds): { draft: RuleSetDraft; note: string | undefined } => {
  const parsed = parseRuleSet(body, bounds, FURTHER_FIELDS);
  const errors = parsed.ok ? [] : [...parsed.errors];
  const note = noteSchema.safeParse(body);
  if (parsed.ok && !note.success)
    errors.push({ ruleId: '(rule set)', field: 'note', message: 'must be text of at most 1,000 characters' });
  if (parsed.ok && note.success) return { draft: parsed.draft, note: note.data.note };
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const detail = `Rule ${first?.ruleId}, ${first?.field}: ${first?.message}${more}. The rules in force stay in force.`;
  throw new AppError('ADCAP_RULES_INVALID', detail, { fields: errors });
};

const stale = (version: number): AppError =>
  new AppError('ADCAP_RULES_STALE', `Version ${version} is in force: read it, and send your change to that.`);

const tooLarge = (bytes: number): AppError =>
  new AppError('ADCAP_RULES_TOO_LARGE', `It has ${bytes} bytes as JSON. The rules in force stay in force.`);

/** A failed change tells what it leaves: sent again blindly, one that is stored would only be stale. */
const unavailable = (
  reply: FastifyReply,
  failure: { state: 'unchanged' | 'stored' | 'unknown'; detail: string; version?: number },
): FastifyReply => {
  const problem = { ...problemOf(new AppError('ADCAP_BUS_UNAVAILABLE', failure.detail)), ...failure };
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
        state: 'unchanged',
        detail: `${result.detail} Nothing was changed: the same may be sent again.`,
      });
    case 'unpublished': {
      const { version } = result.record;
      const detail = `Version ${version} is stored and in force; it could not be published yet and will be as soon as possible. Do not send it again.`;
      return unavailable(reply, { state: 'stored', version, detail });
    }
    case 'unknown': {
      const detail = `The store went away in the middle: version ${result.version} may be in force or not. Read the rules before sending anything again.`;
      return unavailable(reply, { state: 'unknown', version: result.version, detail });
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
      if (ifMatch === undefined)
        throw new AppError('ADCAP_RULES_IF_MATCH_MISSING', 'Send the ETag of GET /v1/rules as If-Match.');
      const { draft, note } = readDraft(request.body, deps.bounds);
      const expected = parseIfMatch(ifMatch);
      if (expected === 'none') throw stale((await deps.book.read())?.version ?? 0);
      const result = await deps.book.change({
        expectedVersion: expected,
        draft,
        note,
        author: request.role ?? 'nobody',
      });
      deps.metrics.changes.inc({ outcome: result.kind });
      if ('cause' in result)
        request.log.warn({ err: result.cause, outcome: result.kind }, 'rules not published');
      return answer(reply, result);
    },
  );
};
