import { AppError, type RulesRecord } from '@adcap/contracts';
import { PROBLEM_MEDIA_TYPE, problemOf, problemSchema } from '@adcap/service-runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Edit } from '../domain/edit-rules.ts';
import type { ChangeResult } from '../rule-book.ts';
import { parseIfMatch } from './if-match.ts';
import type { RouteDeps } from './route-deps.ts';
import { etagOf, rulesProblemSchema } from './rule-set-schemas.ts';

const unavailableSchema = problemSchema.extend({
  state: z.enum(['unchanged', 'stored', 'unknown']).describe('What the failed change left'),
  version: z.number().int().optional().describe('The version that is stored, or may be'),
});

/** What every change refuses with. */
export const changeProblems = {
  400: rulesProblemSchema,
  503: unavailableSchema,
  '4xx': problemSchema,
} as const;

export const ifMatchHeader = z.object({
  'if-match': z.string().optional().describe('The ETag of the set that is changed; without it: 428'),
});

/** Why a version was made; what was done is said by itself before it. */
export const noteQuery = z.object({
  note: z.string().max(700).optional().describe('Why; kept with the version'),
});

export const noteOf = (what: string, why: string | undefined): string =>
  why === undefined ? what : `${what}: ${why}`;

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
  const { request } = reply;
  const error = new AppError(failure.code, failure.detail);
  request.failure = error;
  if (failure.state !== 'unchanged')
    request.audited = {
      outcome: failure.state,
      ...(failure.version === undefined ? {} : { version: failure.version }),
    };
  const problem = { ...problemOf(error), ...failure };
  if (failure.state === 'unchanged') reply.header('retry-after', '1');
  return reply
    .code(problem.status)
    .header('content-type', PROBLEM_MEDIA_TYPE)
    .send(Buffer.from(JSON.stringify(problem)));
};

const answer = (
  reply: FastifyReply,
  result: ChangeResult,
  tell: (record: RulesRecord) => unknown,
): FastifyReply => {
  switch (result.kind) {
    case 'published':
      reply.request.audited = { version: result.record.version };
      return reply.header('etag', etagOf(result.record)).send(tell(result.record));
    case 'refused':
      throw result.error;
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

/** What a route wants: `prepare` is asked once there is an If-Match, and may refuse by throwing. */
export type Wanted = {
  prepare: () =>
    | Promise<{ edit: Edit; note?: string | undefined }>
    | { edit: Edit; note?: string | undefined };
  tell: (record: RulesRecord) => unknown;
};

/** The one way from a request to a new version: If-Match, the edit, the version's answer, the count. */
export const changeRules = async (
  { book, metrics }: Pick<RouteDeps, 'book' | 'metrics'>,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { prepare, tell }: Wanted,
): Promise<FastifyReply> => {
  const ifMatch = request.headers['if-match'];
  const count = (outcome: string): void => metrics.changes.inc({ outcome });
  if (ifMatch === undefined) {
    count('unconditional');
    throw new AppError('ADCAP_RULES_IF_MATCH_MISSING', 'Send the ETag of GET /v1/rules as If-Match.');
  }
  const prepared = await (async () => {
    try {
      return await prepare();
    } catch (error) {
      count('invalid');
      throw error;
    }
  })();
  const result = await book.change({
    expectedVersion: parseIfMatch(ifMatch),
    edit: prepared.edit,
    note: prepared.note,
    author: request.bearer?.actor ?? 'nobody',
  });
  count(result.kind);
  if ('cause' in result) request.log.warn({ err: result.cause, outcome: result.kind }, 'rules not published');
  return answer(reply, result, tell);
};
