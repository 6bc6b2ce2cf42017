import {
  AppError,
  type ErrorCode,
  type FieldError,
  type ImpressionsAnswer,
  impressionBatchSchema,
  impressionItemSchema,
  impressionsAnswerSchema,
  LIMITS,
} from '@adcap/contracts';
import { type HttpServer, PROBLEM_MEDIA_TYPE, problemOf, problemSchema } from '@adcap/service-runtime';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { judgeItem } from '../domain/judge-item.ts';
import type { Judgement } from '../domain/judgement.ts';
import { refuseOtherEncodings } from './body-parser.ts';
import type { RouteDeps } from './route-deps.ts';

/** A thousand bad items are all in `rejected`; the list of fields is a help for people. */
const MAX_FIELD_ERRORS = 100;

const fieldErrors = (judgements: readonly Judgement[]): FieldError[] => {
  if (judgements.length === 0) return [{ field: 'impressions', message: 'is empty' }];
  const all = judgements.flatMap((judgement, index) =>
    judgement.kind === 'rejected'
      ? judgement.fields.map(({ field, message }) => ({
          field: field === '' ? `impressions.${index}` : `impressions.${index}.${field}`,
          message,
        }))
      : [],
  );
  return all.slice(0, MAX_FIELD_ERRORS);
};

const refusalSchema = problemSchema
  .extend(impressionsAnswerSchema.partial().shape)
  .describe('An error (RFC 9457), with the numbers of the answer where the items were looked at');

/** A problem that carries the numbers of the answer too, so that a client reads one form whatever the status. */
const refusal = (code: ErrorCode, fields: readonly FieldError[], answer: ImpressionsAnswer) => {
  const [first] = fields;
  const more = fields.length > 1 ? ` (and ${fields.length - 1} more)` : '';
  const error = new AppError(code, `${first?.field}: ${first?.message}${more}`, { fields });
  return { ...problemOf(error), ...answer };
};

/** As bytes, so that no charset is added, which this media type does not have. */
const sendProblem = (reply: FastifyReply, problem: z.output<typeof refusalSchema>): FastifyReply =>
  reply
    .code(problem.status)
    .header('content-type', PROBLEM_MEDIA_TYPE)
    .send(Buffer.from(JSON.stringify(problem)));

const tooMany = (count: number): AppError => {
  const message = `at most ${LIMITS.impressionsPerRequest} items; ${count} were sent`;
  return new AppError('ADCAP_REQUEST_TOO_LARGE', `impressions: ${message}`, {
    fields: [{ field: 'impressions', message }],
  });
};

/** Items are judged one by one, so the body's schema does not check them; it says what they may be all the same. */
const bodySchema = impressionBatchSchema.extend({
  impressions: z.array(z.unknown().meta({ ...z.toJSONSchema(impressionItemSchema, { io: 'input' }) })),
});

export const addImpressionsRoute = (server: HttpServer, deps: RouteDeps): void => {
  server.post(
    '/v1/impressions',
    {
      onRequest: refuseOtherEncodings,
      schema: {
        tags: ['impressions'],
        summary: 'Tell which ads were watched',
        body: bodySchema,
        response: {
          202: impressionsAnswerSchema,
          400: refusalSchema,
          '4xx': problemSchema,
          '5xx': problemSchema,
        },
      },
    },
    async (request, reply) => {
      const { sentAt, impressions } = request.body;
      if (impressions.length > LIMITS.impressionsPerRequest) throw tooMany(impressions.length);
      const isProducer = deps.isProducer(request.headers.authorization);
      const { receivedAt } = request;
      const context = { ...deps.context, receivedAt, sentAt, isProducer };
      const judgements = impressions.map((raw) => judgeItem(raw, context));
      const answer = await deps.take(judgements);
      if (answer.rejected.length < judgements.length) return reply.code(202).send(answer);
      const code = judgements.length === 0 ? 'ADCAP_REQUEST_INVALID' : 'ADCAP_IMPRESSIONS_ALL_REJECTED';
      const problem = refusal(code, fieldErrors(judgements), answer);
      return sendProblem(reply, problem);
    },
  );
};
