import { z } from 'zod';

/**
 * What of a recorded decision others may rely on: what took each place, with the values that it is counted under, and how
 * many more could have been shown. The record says more, for whoever analyses it. Where a place `isKept`, the record of an
 * earlier round says what it is. What a release before this has written has no `spare`.
 */
export const decisionRecordSchema = z.object({
  type: z.literal('DECISION'),
  sessionId: z.string().optional(),
  breakId: z.string(),
  round: z.number(),
  breakAt: z.number(),
  spare: z.number(),
  placed: z.array(
    z.object({
      creativeId: z.string(),
      campaignId: z.string().optional(),
      brandId: z.string().optional(),
      industryIds: z.array(z.string()).default([]),
      exempt: z.boolean().default(false),
      isKept: z.boolean().default(false),
    }),
  ),
});

export type DecisionRecord = z.input<typeof decisionRecordSchema>;
