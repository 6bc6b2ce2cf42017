import { AppError } from '@adcap/contracts';
import {
  type AccessHook,
  type RateLimits,
  ROLES,
  type RoleTokens,
  requireRole,
} from '@adcap/service-runtime';
import type { FastifyRequest } from 'fastify';

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/** Behind a proxy on the same machine everybody would be local. */
const isForwarded = ({ headers }: FastifyRequest): boolean =>
  headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;

const localOnly: AccessHook = async (request, reply) => {
  if (LOOPBACK.test(request.socket.remoteAddress ?? '') && !isForwarded(request)) return;
  reply.header('www-authenticate', 'Bearer realm="adcap"');
  throw new AppError(
    'ADCAP_AUTH_MISSING',
    'Without configured tokens the rules are shown on this machine only.',
  );
};

/** Who may read and who may change the rules. Without any token: reading from this machine, changing by nobody. */
export const createAccess = (
  tokens: RoleTokens,
  limits: RateLimits,
): { read: AccessHook; write: AccessHook } => {
  const hasTokens = ROLES.some((role) => (tokens[role] ?? []).length > 0);
  return {
    read: limits.around(hasTokens ? requireRole(tokens, 'viewer') : localOnly),
    write: limits.around(requireRole(tokens, 'editor')),
  };
};
