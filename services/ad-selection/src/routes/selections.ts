import {
  type SelectionRequest,
  selectionAnswerSchema,
  selectionBatchRequestSchema,
  selectionRequestSchema,
} from '@adcap/contracts';
import { valueKeyOf } from '@adcap/identity';
import { type HttpServer, problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';
import type { Ask } from '../domain/ask.ts';
import { assertBreakTime } from '../domain/break-time.ts';
import { toEntries } from '../domain/to-ad.ts';
import { documented } from './documented.ts';
import type { RouteDeps } from './route-deps.ts';

const toAsk = (request: SelectionRequest, isOperator: boolean): Ask => ({
  deviceId: request.deviceId,
  sessionId: request.sessionId,
  breakId: request.breakId,
  round: request.round,
  breakAt: request.breakAt,
  context: request.context,
  slots: request.slots,
  podDurationMs: request.podDurationMs,
  reserve: request.reserve,
  isFixed: false,
  explain: request.explain ? (isOperator ? 'impressions' : 'rules') : 'nothing',
  entries: toEntries(request.candidates, valueKeyOf),
});

const batchAnswerSchema = z.object({ answers: z.array(selectionAnswerSchema) });

export const addSelectionRoutes = (server: HttpServer, deps: RouteDeps): void => {
  const answer = (request: SelectionRequest, authorization: string | undefined) => {
    assertBreakTime(request.breakAt, { nowMs: deps.nowMs(), retentionMs: deps.retentionMs });
    return deps.decider.decide(toAsk(request, deps.roleOf(authorization) === 'operator'), request.deadlineMs);
  };

  server.post(
    '/v1/selections',
    {
      schema: {
        tags: ['selections'],
        summary: 'Which candidates the viewer may see at the break, and a pod of them',
        body: selectionRequestSchema,
        response: { 200: documented(selectionAnswerSchema), '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (request) => answer(request.body, request.headers.authorization),
  );

  server.post(
    '/v1/selections/batch',
    {
      schema: {
        tags: ['selections'],
        summary: 'All breaks of one device, decided in time order, answered in the order asked',
        body: selectionBatchRequestSchema,
        response: { 200: documented(batchAnswerSchema), '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (request) => {
      const { deviceId, sessionId, breaks } = request.body;
      const inTime = breaks
        .map((one, index) => ({ one, index }))
        .toSorted((a, b) => a.one.breakAt - b.one.breakAt);
      for (const { one } of inTime)
        assertBreakTime(one.breakAt, { nowMs: deps.nowMs(), retentionMs: deps.retentionMs });
      const answers: z.output<typeof selectionAnswerSchema>[] = [];
      for (const { one, index } of inTime) {
        // Each sees the grants of the ones before it.
        // oxlint-disable-next-line no-await-in-loop
        answers[index] = await answer({ ...one, deviceId, sessionId }, request.headers.authorization);
      }
      return { answers };
    },
  );
};
