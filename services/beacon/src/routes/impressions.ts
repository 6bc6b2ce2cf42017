import {
  AppError,
  type EpochMs,
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
import { refuseOtherEncodings } from './body-parser.ts';
import type { RouteDeps } from './route-deps.ts';

const fieldOf = ({ index, message }: ImpressionsAnswer['rejected'][number]): FieldError => {
  const [field = ''] = message.split(': ', 1);
  return { field: `impressions.${index}.${field}`, message };
};

/** A problem that carries the numbers of the answer too, so that a client reads one form whatever the status. */
const refuse = (reply: FastifyReply, code: ErrorCode, answer: ImpressionsAnswer): FastifyReply => {
  const fields = answer.rejected.map(fieldOf);
  const [first] = answer.rejected;
  const detail =
    first === undefined
      ? 'impressions: is empty'
      : `impressions.${first.index}.${first.message}` +
        (fields.length > 1 ? ` (and ${fields.length - 1} more)` : '');
  const empty: FieldError = { field: 'impressions', message: 'is empty' };
  const error = new AppError(code, detail, { fields: first === undefined ? [empty] : fields });
  return reply
    .code(error.status)
    .header('content-type', PROBLEM_MEDIA_TYPE)
    .send(Buffer.from(JSON.stringify({ ...problemOf(error), ...answer })));
};

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
        response: { 202: impressionsAnswerSchema, '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (request, reply) => {
      const { sentAt, impressions } = request.body;
      if (impressions.length > LIMITS.impressionsPerRequest) throw tooMany(impressions.length);
      const isProducer = deps.isProducer(request.headers.authorization);
      const receivedAt: EpochMs = request.receivedAt;
      const context = { ...deps.context, receivedAt, sentAt, isProducer };
      const answer = await deps.take(impressions.map((raw) => judgeItem(raw, context)));
      if (impressions.length === 0) return refuse(reply, 'ADCAP_REQUEST_INVALID', answer);
      if (answer.rejected.length === impressions.length)
        return refuse(reply, 'ADCAP_IMPRESSIONS_ALL_REJECTED', answer);
      return reply.code(202).send(answer);
    },
  );
};
