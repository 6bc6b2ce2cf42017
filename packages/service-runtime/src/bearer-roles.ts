import { createHash, timingSafeEqual } from 'node:crypto';
import { AppError } from '@adcap/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** What a bearer of a token may do, each including those before it. */
export const ROLES = ['viewer', 'editor', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/** A role without a token (or with an empty one) cannot be taken by anyone. */
export type RoleTokens = { readonly [role in Role]?: string | undefined };

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `requireRole`. */
    role: Role | undefined;
  }
}

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Whether a role includes what another may do. */
export const includesRole = (role: Role | undefined, minimum: Role): boolean =>
  role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(minimum);

/**
 * Reads the role out of an Authorization header; undefined for a missing, malformed or unknown token. Digests are
 * compared in constant time and all of them each time, so timing tells neither a token nor which role came close.
 */
export const createRoleReader = (
  tokens: RoleTokens,
): ((authorization: string | undefined) => Role | undefined) => {
  const known = ROLES.flatMap((role) => {
    const token = tokens[role];
    return token === undefined || token === '' ? [] : [{ role, hash: digest(token) }];
  });
  return (authorization) => {
    const presented = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (presented === undefined) return undefined;
    const hash = digest(presented);
    const matching = known.filter((entry) => timingSafeEqual(entry.hash, hash));
    return matching.at(-1)?.role;
  };
};

/**
 * A hook that lets only bearers of at least `minimum` pass and sets `request.role`. Use it as `onRequest` (nothing of
 * the body is read first) or `preHandler`. Fails closed: without configured tokens nobody passes.
 */
export const requireRole = (tokens: RoleTokens, minimum: Role) => {
  const readRole = createRoleReader(tokens);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const role = readRole(request.headers.authorization);
    if (role === undefined) {
      reply.header('www-authenticate', 'Bearer realm="adcap"');
      throw new AppError('ADCAP_AUTH_MISSING', 'Send a valid token as Authorization: Bearer <token>.');
    }
    if (!includesRole(role, minimum)) {
      throw new AppError('ADCAP_AUTH_ROLE', `This needs the role ${minimum}; the token has ${role}.`);
    }
    request.role = role;
  };
};
