import { type ImpressionsAnswer, impressionItemSchema } from '@adcap/contracts';
import type { HttpServer } from '@adcap/service-runtime';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { judgePixel } from '../domain/judge-pixel.ts';
import type { Judgement } from '../domain/judgement.ts';
import type { RouteDeps } from './route-deps.ts';

/** One transparent pixel: the smallest GIF that every player and browser takes. */
const GIF_BASE64 = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==';
const GIF = Buffer.from(GIF_BASE64, 'base64');

const HEADERS = {
  'content-type': 'image/gif',
  'cache-control': 'no-store, private',
  // Pages that isolate themselves may still show it.
  'cross-origin-resource-policy': 'cross-origin',
} as const;

const text = z.string().optional();

const querySchema = z.object({
  t: text.describe('A reservation id, which alone is a whole impression'),
  ...Object.fromEntries(Object.keys(impressionItemSchema.shape).map((name) => [name, text])),
  industryIds: text.describe('Separated by commas'),
  sentAt: text.describe('The device’s clock when it asked for this'),
});

/** A page that is fetched or rendered ahead has not been seen; once shown, it asks again. */
const isPrefetch = ({ headers }: FastifyRequest): boolean =>
  [headers['sec-purpose'], headers['purpose'], headers['x-purpose'], headers['x-moz']].some((value) =>
    /\b(?:prefetch|prerender|preview)\b/i.test(String(value ?? '')),
  );

const outcomeOf = (answer: ImpressionsAnswer): string => {
  const [rejected] = answer.rejected;
  if (rejected !== undefined) return `rejected; ${rejected.reason}`;
  if (answer.ignored > 0) return 'ignored';
  return answer.accepted > 0 ? 'accepted' : 'duplicate';
};

export const addPixelRoute = (server: HttpServer, deps: RouteDeps): void => {
  server.get(
    '/v1/pixel.gif',
    {
      schema: {
        tags: ['impressions'],
        summary: 'Tell one watched ad by an image, as a VAST <Impression> does',
        querystring: querySchema,
      },
    },
    async (request, reply) => {
      const { receivedAt } = request;
      const isProducer = deps.isProducer(request.headers.authorization);
      const judgement: Judgement = isPrefetch(request)
        ? { kind: 'ignored', reason: 'prefetch' }
        : judgePixel(request.query, { ...deps.context, receivedAt, isProducer });
      const answer = await deps.take([judgement]);
      return reply.headers(HEADERS).header('x-adcap-outcome', outcomeOf(answer)).send(GIF);
    },
  );
};
