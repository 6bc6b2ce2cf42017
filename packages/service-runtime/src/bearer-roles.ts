import { timingSafeEqual } from 'node:crypto';
import { AppError } from '@adcap/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { digestOf, type TokenDigest } from './access-tokens.ts';

/** What a bearer of a token may do, each including those before it. */
export const ROLES = ['viewer', 'editor', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/** A role without a token cannot be taken by anyone. */
export type RoleTokens = { readonly [role in Role]?: readonly TokenDigest[] | undefined };

/** Who asks: the name of the token, or its role where it has no name. */
export type Bearer = { role: Role; actor: string };

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the token that was sent, where it is a valid one; set by `requireRole`, also where it refuses. */
    bearer: Bearer | undefined;
  }
}

export type AccessHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Whether a role includes what another may do. */
export const includesRole = (role: Role | undefined, minimum: Role): boolean =>
  role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(minimum);

/**
 * Reads the bearer out of an Authorization header; undefined for a missing, malformed or unknown token. Digests are
 * compared in constant time and all of them each time, so timing tells neither a token nor which role came close.
 */
export const createBearerReader = (
  tokens: RoleTokens,
): ((authorization: string | undefined) => Bearer | undefined) => {
  const known = ROLES.flatMap((role) =>
    (tokens[role] ?? []).map(({ name, sha256 }) => ({ bearer: { role, actor: name ?? role }, sha256 })),
  );
  return (authorization) => {
    const presented = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (presented === undefined) return undefined;
    const digest = digestOf(presented);
    const matching = known.filter((entry) => timingSafeEqual(entry.sha256, digest));
    return matching.at(-1)?.bearer;
  };
};

const refuse = (request: FastifyRequest, error: AppError): never => {
  const { bearer, method, routeOptions, socket } = request;
  request.log.info(
    { code: error.code, ...bearer, method, route: routeOptions.url, peer: socket.remoteAddress },
    'access refused',
  );
  throw error;
};

/**
 * A hook that lets only bearers of at least `minimum` pass and sets `request.bearer`. Use it as `onRequest` (nothing of
 * the body is read first) or `preHandler`. Fails closed: without configured tokens nobody passes.
 */
export const requireRole = (tokens: RoleTokens, minimum: Role): AccessHook => {
  const readBearer = createBearerReader(tokens);
  return async (request, reply) => {
    const bearer = readBearer(request.headers.authorization);
    request.bearer = bearer;
    if (bearer === undefined) {
      reply.header('www-authenticate', 'Bearer realm="adcap"');
      const detail = 'Send a valid token as Authorization: Bearer <token>.';
      return refuse(request, new AppError('ADCAP_AUTH_MISSING', detail));
    }
    if (!includesRole(bearer.role, minimum)) {
      const detail = `This needs the role ${minimum}; the token has ${bearer.role}.`;
      refuse(request, new AppError('ADCAP_AUTH_ROLE', detail));
    }
  };
};
