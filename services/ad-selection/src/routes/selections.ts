import {
  AppError,
  type SelectionAnswer,
  type SelectionRequest,
  selectionAnswerSchema,
  selectionBatchRequestSchema,
  selectionRequestSchema,
} from '@adcap/contracts';
import { valueKeyOf } from '@adcap/identity';
import { type Bearer, type HttpServer, problemSchema } from '@adcap/service-runtime';
import { z } from 'zod';
import type { Ask } from '../domain/ask.ts';
import { assertBreakTime } from '../domain/break-time.ts';
import { toEntries } from '../domain/to-entries.ts';
import { deviceTarget } from './device-target.ts';
import { documented } from './documented.ts';
import type { RouteDeps } from './route-deps.ts';

const toAsk = (request: SelectionRequest, explain: Ask['explain']): Ask => ({
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
  explain,
  entries: toEntries(request.candidates, valueKeyOf),
});

const batchAnswerSchema = z.object({ answers: z.array(selectionAnswerSchema) });

/** One break at two instants of one batch would be moved under its own first answer. */
const assertNoMoves = (breaks: readonly Pick<SelectionRequest, 'breakId' | 'breakAt'>[]): void => {
  const instants = new Map<string, number>();
  for (const [index, { breakId, breakAt }] of breaks.entries()) {
    const before = instants.get(breakId) ?? breakAt;
    instants.set(breakId, before);
    if (before === breakAt) continue;
    const problem = {
      field: `breaks.${index}.breakAt`,
      message: 'is another instant of a break that is in this batch',
    };
    throw new AppError('ADCAP_REQUEST_INVALID', `${problem.field}: ${problem.message}`, {
      fields: [problem],
    });
  }
};

export const addSelectionRoutes = (server: HttpServer, deps: RouteDeps): void => {
  const explainFor = ({ explain }: SelectionRequest, bearer: Bearer | undefined): Ask['explain'] => {
    if (!explain) return 'nothing';
    return bearer?.role === 'operator' ? 'impressions' : 'rules';
  };
  const answer = async (
    selection: SelectionRequest,
    { ip, headers }: { ip: string; headers: { authorization?: string | undefined } },
  ): Promise<SelectionAnswer> => {
    const bearer = selection.explain ? deps.bearerOf(headers.authorization) : undefined;
    const explain = explainFor(selection, bearer);
    const answered = await deps.decider.decide(toAsk(selection, explain), selection.deadlineMs);
    if (explain === 'impressions' && selection.deviceId !== undefined) {
      const target = deviceTarget(selection.deviceId);
      deps.audit.note({ ip, bearer }, { action: 'device.explain', target, outcome: 'done' });
    }
    return answered;
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
    async (request) => {
      assertBreakTime(request.body.breakAt, { nowMs: deps.nowMs(), retentionMs: deps.retentionMs });
      return answer(request.body, request);
    },
  );

  server.post(
    '/v1/selections/batch',
    {
      schema: {
        tags: ['selections'],
        summary: 'All breaks of one device, decided in time order, answered in the order asked',
        description:
          'A break that is refused fails the batch; the breaks before it in time stay reserved, and a repeat is answered the same.',
        body: selectionBatchRequestSchema,
        response: { 200: documented(batchAnswerSchema), '4xx': problemSchema, '5xx': problemSchema },
      },
    },
    async (request) => {
      const { deviceId, sessionId, breaks } = request.body;
      const now = { nowMs: deps.nowMs(), retentionMs: deps.retentionMs };
      assertNoMoves(breaks);
      for (const [index, { breakAt }] of breaks.entries())
        assertBreakTime(breakAt, { ...now, field: `breaks.${index}.breakAt` });
      const inTime = [...breaks.entries()].toSorted(([, a], [, b]) => a.breakAt - b.breakAt);
      const answers: SelectionAnswer[] = [];
      for (const [index, one] of inTime) {
        // Each sees the grants of the ones before it.
        // oxlint-disable-next-line no-await-in-loop
        answers[index] = await answer({ ...one, deviceId, sessionId }, request);
      }
      return { answers };
    },
  );
};
