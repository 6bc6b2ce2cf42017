import { AppError } from '@adcap/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryProblems } from './query-parser.ts';
import type { RouteTable } from './route-table.ts';

const pathOf = (url: string): string => url.split('?', 1)[0] ?? url;

/** Refuses what no route takes: 405 where the path exists under other methods, else 404. */
export const refuseUnrouted = (request: FastifyRequest, reply: FastifyReply, routes: RouteTable): never => {
  const methods = routes.methodsFor(pathOf(request.url));
  // A route may itself find nothing, as that of the documentation's files does.
  if (methods.length === 0 || methods.includes(request.method)) {
    throw new AppError('ADCAP_ROUTE_UNKNOWN', 'There is nothing under this path.');
  }
  reply.header('allow', methods.join(', '));
  throw new AppError('ADCAP_ROUTE_METHOD', `Allowed here: ${methods.join(', ')}.`);
};

/** Refuses, before a byte of the body is read, what no route may see: unknown paths, wrong methods, NUL, unsound queries. */
export const createRequestGuard =
  (routes: RouteTable) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (request.is404) refuseUnrouted(request, reply, routes);
    if (pathOf(request.url).includes('%00')) {
      throw new AppError('ADCAP_REQUEST_MALFORMED', 'The path holds a NUL character.');
    }
    const fields = queryProblems(request.query);
    const [first] = fields;
    if (first === undefined) return;
    throw new AppError('ADCAP_REQUEST_INVALID', `${first.field}: ${first.message}`, { fields });
  };
