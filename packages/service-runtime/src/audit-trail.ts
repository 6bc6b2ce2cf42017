import type { AuditAction, AuditEvent, AuditOutcome } from '@adcap/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import type { Bearer } from './bearer-roles.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What a route knows of its outcome beyond the status of its answer. */
    audited: { version?: number; outcome?: AuditOutcome } | undefined;
  }
}

/** What is noted; who did it, from where and when is known. */
export type AuditNote = Pick<AuditEvent, 'action' | 'target' | 'outcome' | 'code' | 'version'>;

type OnSend = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Promise<unknown>;

export type AuditTrail = {
  note(by: { ip: string; bearer: Bearer | undefined }, note: AuditNote): void;
  /** An `onSend` hook: every answer of the route is noted, refusals too, also where nobody reads it any more. */
  onSend(action: AuditAction, targetOf: (request: FastifyRequest) => string): OnSend;
};

export type AuditTrailOptions = {
  service: string;
  clock: Clock;
  logger: Pick<Logger, 'info' | 'warn'>;
  registry: Registry;
  /** Where records are written to; its failure is noted and fails nothing. */
  send: (key: string, value: string) => Promise<void>;
};

const MAX_TARGET_LENGTH = 300;
const TOO_MANY_REQUESTS = 429;

const outcomeOf = (statusCode: number): AuditOutcome => {
  if (statusCode >= 500) return 'failed';
  return statusCode >= 400 ? 'refused' : 'done';
};

/**
 * Failure policy: an answer waits for no record. One that could not be written is in the log as a warning, whole, and
 * counted.
 */
export const createAuditTrail = ({
  service,
  clock,
  logger,
  registry,
  send,
}: AuditTrailOptions): AuditTrail => {
  const records = new Counter({
    name: 'adcap_audit_records_total',
    help: 'Audit records by whether the event stream has them; unwritten ones are in the log as warnings',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  const write = async (audit: AuditEvent): Promise<void> => {
    logger.info({ audit }, 'audit');
    try {
      await send(audit.target, JSON.stringify(audit));
      records.inc({ outcome: 'written' });
    } catch (err) {
      records.inc({ outcome: 'unwritten' });
      logger.warn({ err, audit }, 'an audit record could not be written');
    }
  };
  const note: AuditTrail['note'] = ({ ip, bearer }, { target, ...what }) => {
    void write({
      type: 'AUDIT',
      v: 1,
      at: clock.nowMs(),
      service,
      actor: bearer?.actor ?? null,
      role: bearer?.role ?? null,
      target: target.slice(0, MAX_TARGET_LENGTH),
      ...what,
      peer: ip,
    });
  };
  return {
    note,
    onSend: (action, targetOf) => async (request, reply, payload) => {
      // Whoever sends too many could fill the trail as well; those are counted.
      if (reply.statusCode === TOO_MANY_REQUESTS) return payload;
      const { audited, failure } = request;
      note(request, {
        action,
        target: targetOf(request),
        outcome: audited?.outcome ?? outcomeOf(reply.statusCode),
        ...(failure === undefined ? {} : { code: failure.code }),
        ...(audited?.version === undefined ? {} : { version: audited.version }),
      });
      return payload;
    },
  };
};
