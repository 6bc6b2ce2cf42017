import { type EpochMs, epochMs } from '@adcap/contracts';
import { type CompiledRules, createReplay, type Watched } from '@adcap/rule-engine';
import { createSampledShare, type Share } from './sampled-share.ts';

/** What a rule of the draft would have blocked. */
type BlockedByRule = {
  ruleId: string;
  blocked: number;
  /** Those that the rules in force allow. */
  newlyBlocked: number;
  /** Devices with at least one of them. */
  devices: number;
};

/** What a draft would have made of what was watched, beside the rules in force. */
export type PreviewFigures = {
  impressions: number;
  /** By the draft. */
  blocked: number;
  /** By the rules in force: watched before they were, or past them (an open answer, an exempt ad). */
  blockedNow: number;
  newlyBlocked: number;
  newlyAllowed: number;
  /** Devices looked at. */
  sampled: number;
  /** Devices of which the draft blocks something. */
  devices: number;
  /** Devices of which the draft blocks something that the rules in force allow. */
  newlyBlockedDevices: number;
  /** The most of what is newly blocked first, then the most of what is blocked. */
  byRule: readonly BlockedByRule[];
  oldest: EpochMs | undefined;
  newest: EpochMs | undefined;
};

export type PreviewTally = {
  /** One device's history, oldest first. */
  add(history: readonly Watched[]): void;
  figures(): PreviewFigures;
  /** @param sampledPart how much of all devices was looked at */
  shares(sampledPart: number): { blocked: Share; newlyBlocked: Share };
};

const instantOf = (at: number): EpochMs | undefined => (Number.isFinite(at) ? epochMs(at) : undefined);

type ByRule = Map<string, BlockedByRule>;

const noteRule = (byRule: ByRule, ruleId: string, isNew: boolean): BlockedByRule => {
  const line = byRule.get(ruleId) ?? { ruleId, blocked: 0, newlyBlocked: 0, devices: 0 };
  line.blocked += 1;
  line.newlyBlocked += isNew ? 1 : 0;
  byRule.set(ruleId, line);
  return line;
};

/**
 * Adds up devices, each lived through twice: under the draft and under the rules in force, each as it would have been
 * under it. Impressions before `sinceMs` count in windows and in no figure.
 */
export const createPreviewTally = (rules: {
  draft: CompiledRules;
  inForce: CompiledRules;
  sinceMs: number;
}): PreviewTally => {
  const figures = {
    impressions: 0,
    blocked: 0,
    blockedNow: 0,
    newlyBlocked: 0,
    newlyAllowed: 0,
    sampled: 0,
    devices: 0,
    newlyBlockedDevices: 0,
  };
  const byRule: ByRule = new Map();
  const blockedShare = createSampledShare();
  const newlyBlockedShare = createSampledShare();
  let [oldest, newest] = [Infinity, -Infinity];

  const noteTimes = (at: EpochMs): void => {
    oldest = Math.min(oldest, at);
    newest = Math.max(newest, at);
  };

  const add = (history: readonly Watched[]): void => {
    const [draft, inForce] = [createReplay(rules.draft), createReplay(rules.inForce)];
    const before = { ...figures };
    const touching = new Set<BlockedByRule>();
    for (const watched of history) {
      const then = draft.watch(watched);
      const now = inForce.watch(watched);
      if (watched.at < rules.sinceMs) continue;
      noteTimes(watched.at);
      figures.impressions += 1;
      if (now !== undefined) figures.blockedNow += 1;
      if (now !== undefined && then === undefined) figures.newlyAllowed += 1;
      if (then === undefined) continue;
      figures.blocked += 1;
      if (now === undefined) figures.newlyBlocked += 1;
      touching.add(noteRule(byRule, then.id, now === undefined));
    }
    const of = (name: 'impressions' | 'blocked' | 'newlyBlocked'): number => figures[name] - before[name];
    figures.sampled += 1;
    if (of('impressions') === 0) return;
    if (of('blocked') > 0) figures.devices += 1;
    if (of('newlyBlocked') > 0) figures.newlyBlockedDevices += 1;
    for (const line of touching) line.devices += 1;
    blockedShare.add(of('impressions'), of('blocked'));
    newlyBlockedShare.add(of('impressions'), of('newlyBlocked'));
  };

  return {
    add,
    figures: () => ({
      ...figures,
      byRule: [...byRule.values()].toSorted(
        (a, b) => b.newlyBlocked - a.newlyBlocked || b.blocked - a.blocked || (a.ruleId < b.ruleId ? -1 : 1),
      ),
      oldest: instantOf(oldest),
      newest: instantOf(newest),
    }),
    shares: (sampledPart) => ({
      blocked: blockedShare.estimate(sampledPart),
      newlyBlocked: newlyBlockedShare.estimate(sampledPart),
    }),
  };
};
