import { AppError, type RuleSetDraft } from '@adcap/contracts';
import { type HttpServer, problemSchema } from '@adcap/service-runtime';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { judgeBody } from '../judge-body.ts';
import { previewAnswer, previewBodySchema, previewOptionsSchema, previewSchema } from './preview-schemas.ts';
import type { RouteDeps } from './route-deps.ts';
import { rulesProblemSchema } from './rule-set-schemas.ts';

/** Aborted when the client goes before it was answered. */
export const clientGone = (reply: FastifyReply): AbortSignal => {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('the client has gone'));
  });
  return gone.signal;
};

const readOptions = (body: object): z.output<typeof previewOptionsSchema> => {
  const options = previewOptionsSchema.safeParse(body);
  if (options.success) return options.data;
  const fields = options.error.issues.map(({ path, message }) => ({
    field: path.map(String).join('.'),
    message,
  }));
  throw new AppError('ADCAP_REQUEST_INVALID', `${fields[0]?.field}: ${fields[0]?.message}`, { fields });
};

const readDraft = (body: unknown, bounds: RouteDeps['bounds']): RuleSetDraft => {
  const judged = judgeBody(body, bounds);
  if (judged.ok) return judged.draft;
  const [first] = judged.errors;
  throw new AppError('ADCAP_RULES_INVALID', `Rule ${first?.ruleId}, ${first?.field}: ${first?.message}.`, {
    fields: judged.errors,
  });
};

const readBody = (body: unknown, bounds: RouteDeps['bounds']) => {
  const isSet = typeof body === 'object' && body !== null && !Array.isArray(body);
  // Whatever is no set at all is refused as the draft that it is not.
  if (!isSet) return { ...readOptions({}), draft: readDraft(body, bounds) };
  const { sample: _sample, since: _since, ...set } = { sample: undefined, since: undefined, ...body };
  return { ...readOptions(body), draft: readDraft(set, bounds) };
};

export const addPreviewRulesRoute = (server: HttpServer, { access, bounds, preview }: RouteDeps): void => {
  server.post(
    '/v1/rules/preview',
    {
      onRequest: access.read,
      schema: {
        tags: ['rules'],
        summary: 'What a rule set would have done with what was watched; nothing is changed',
        description:
          'Replays each impression of a random sample of devices as a decision at its own instant, in the order of time, once under the draft and once under the rules in force. Each past is lived as it would have been: what is blocked was not watched and counts for no later one. What would have been shown instead is not known. A history tells no context, no pods and no exemption: rules with `when` and `pod` windows block nothing here, and exempt ads are judged like any other. One preview at a time.',
        security: [{ bearer: [] }],
        body: previewBodySchema,
        response: { 200: previewSchema, 400: rulesProblemSchema, '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (request, reply) => {
      const { draft, sample, since } = readBody(request.body, bounds);
      return previewAnswer(await preview({ draft, sample, since, signal: clientGone(reply) }));
    },
  );
};
