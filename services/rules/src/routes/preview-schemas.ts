import { instantSchema } from '@adcap/contracts';
import { z } from 'zod';
import { LOST_FILL_REASONS } from '../adapters/recorded-decisions.ts';
import type { Preview } from '../preview-rules.ts';
import { findingsSchema, ruleSetBodySchema } from './rule-set-schemas.ts';

/** Named in a page of answers; whoever needs more narrows the draft. */
const MOST_RULES = 50;
export const MOST_DEVICES = 10_000;

const count = z.number().int();
const instant = count.describe('epoch ms');
const share = z.number().describe('0 to 1');
const intervalSchema = z
  .object({ low: share, high: share })
  .describe(
    'Holds the share among all devices in 95 of 100 samples; device by device, not impression by impression',
  );

/** What is asked for beside the draft. */
export const previewOptionsSchema = z.object({
  sample: z.number().int().min(1).max(MOST_DEVICES).default(MOST_DEVICES),
  since: instantSchema.optional(),
});

const previewOptionsJson = z.toJSONSchema(previewOptionsSchema, { io: 'input', unrepresentable: 'any' });
const draftJson = ruleSetBodySchema.meta() ?? {};

export const previewBodySchema = z.unknown().meta({
  ...draftJson,
  properties: { ...Object(draftJson['properties']), ...previewOptionsJson.properties },
});

const lostFillSchema = z.object({
  decisions: count.describe('Recorded decisions that were asked again'),
  devices: count.describe('Devices that they were made for'),
  slots: count.describe('Slots that they filled'),
  lost: count.describe(
    'Of these, slots whose ad the draft blocks and for which nothing was left over; at least so many',
  ),
  lostShare: share,
  interval: intervalSchema,
  oldest: instant,
  newest: instant,
});

export const previewSchema = z.object({
  rulesVersion: count.nullable().describe('What the draft is compared with; null: there are no rules yet'),
  since: instant.describe('epoch ms: what was watched before counts in windows and is not judged'),
  impressions: count.describe('Impressions judged'),
  devices: count.describe('Devices of which the draft would have blocked something'),
  blocked: count.describe('Impressions that the draft would have blocked'),
  blockedShare: share,
  interval: intervalSchema.describe('Of blockedShare'),
  blockedNow: count.describe(
    'Impressions that the rules in force would have blocked: watched before they were, or past them',
  ),
  newlyBlocked: count.describe('Blocked by the draft, allowed by the rules in force'),
  newlyBlockedShare: share,
  newlyBlockedInterval: intervalSchema.describe('Of newlyBlockedShare'),
  newlyBlockedDevices: count,
  newlyAllowed: count.describe('Allowed by the draft, blocked by the rules in force'),
  byRule: z
    .array(z.object({ ruleId: z.string(), blocked: count, newlyBlocked: count, devices: count }))
    .describe(`The rules of the draft that blocked the most, at most ${MOST_RULES}`),
  sampled: count.describe('Devices looked at'),
  population: count.describe('Devices with a history; estimated where not every one was looked for'),
  isPartial: z.boolean().describe('The time was up before the sample was complete'),
  oldest: instant.optional().describe('epoch ms: the first impression judged'),
  newest: instant.optional().describe('epoch ms: the last impression judged'),
  lostFill: lostFillSchema.optional().describe('From recorded decisions; absent where there are none'),
  lostFillReason: z.enum(LOST_FILL_REASONS).optional().describe('Why there is no lostFill'),
  warnings: findingsSchema,
});

export type PreviewAnswer = z.output<typeof previewSchema>;

export const previewAnswer = (preview: Preview): PreviewAnswer => {
  const { blockedShare, newlyBlockedShare, lostFill, byRule, warnings, oldest, newest, ...figures } = preview;
  return {
    ...figures,
    blockedShare: blockedShare.share,
    interval: blockedShare.interval,
    newlyBlockedShare: newlyBlockedShare.share,
    newlyBlockedInterval: newlyBlockedShare.interval,
    byRule: byRule.slice(0, MOST_RULES),
    ...(oldest === undefined ? {} : { oldest }),
    ...(newest === undefined ? {} : { newest }),
    ...(typeof lostFill === 'string' ? { lostFillReason: lostFill } : { lostFill }),
    warnings: [...warnings],
  };
};
