import { AppError } from '@adcap/contracts';
import { ROLES, type RoleTokens, requireRole } from '@adcap/service-runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/** Behind a proxy on the same machine everybody would be local. */
const isForwarded = ({ headers }: FastifyRequest): boolean =>
  headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;

const localOnly: Hook = async (request, reply) => {
  if (LOOPBACK.test(request.socket.remoteAddress ?? '') && !isForwarded(request)) return;
  reply.header('www-authenticate', 'Bearer realm="adcap"');
  throw new AppError(
    'ADCAP_AUTH_MISSING',
    'Without configured tokens the rules are shown on this machine only.',
  );
};

/** Who may read and who may change the rules. Without any token: reading from this machine, changing by nobody. */
export const createAccess = (tokens: RoleTokens): { read: Hook; write: Hook } => {
  const hasTokens = ROLES.some((role) => (tokens[role] ?? '') !== '');
  return {
    read: hasTokens ? requireRole(tokens, 'viewer') : localOnly,
    write: requireRole(tokens, 'editor'),
  };
};
