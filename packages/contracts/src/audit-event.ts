import { z } from 'zod';

/** What somebody did, or tried to do. A closed set. */
export const AUDIT_ACTIONS = [
  'rules.replace',
  'rules.add',
  'rules.edit',
  'rules.remove',
  'rules.switch',
  'rules.rollback',
  'device.read',
  'device.erase',
  'device.explain',
  'switch.set',
  'switch.clear',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** `stored`: in force and not published yet; `unknown`: the store went away in the middle. */
export const AUDIT_OUTCOMES = ['done', 'refused', 'failed', 'stored', 'unknown'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** AUDIT: who changed what, or looked at which device; refused attempts too. On the audit topic under its target. */
export const auditEventSchema = z.object({
  type: z.literal('AUDIT'),
  v: z.literal(1),
  at: z.number().int().describe('When it was answered, epoch ms'),
  service: z.string(),
  actor: z
    .string()
    .nullable()
    .describe('The name of the token, its role where it has no name; null: no valid token'),
  role: z.enum(['viewer', 'editor', 'operator']).nullable(),
  action: z.enum(AUDIT_ACTIONS),
  target: z
    .string()
    .describe('`rules`, `rule:<id>`, `dimension:<name>`, `version:<n>`, `device:<tag>`, `switch:<name>`'),
  outcome: z.enum(AUDIT_OUTCOMES),
  code: z.string().optional().describe('Why it was not done: a code of errors.md'),
  version: z.number().int().optional().describe('The version of the rules that it made'),
  peer: z.string().describe('The address that the request came from'),
});

export type AuditEvent = z.output<typeof auditEventSchema>;
