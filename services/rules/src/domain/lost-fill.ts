import { type EpochMs, epochMs } from '@adcap/contracts';
import {
  type Ad,
  type CompiledRules,
  createReplay,
  fillPod,
  type Replay,
  type Watched,
} from '@adcap/rule-engine';
import { createSampledShare, type Share } from './sampled-share.ts';

/** A decision as it was recorded: what took its places, and how many more could have. */
export type RecordedDecision = { breakAt: EpochMs; placed: readonly Ad[]; spare: number };

/** Slots that recorded decisions filled and the draft would have left empty. */
export type LostFill = {
  decisions: number;
  devices: number;
  slots: number;
  lost: number;
  lostShare: number;
  interval: Share['interval'];
  oldest: EpochMs;
  newest: EpochMs;
};

export type LostFillTally = {
  /** One device: what it watched and what was decided for it, each oldest first. */
  add(history: readonly Watched[], decisions: readonly RecordedDecision[]): void;
  /** Undefined where nothing was decided for any of the devices. */
  result(): LostFill | undefined;
};

/** A slot is lost where the draft blocks what took it and nothing was left over to take its place. */
const lostIn = (replay: Replay, { placed, breakAt, spare }: RecordedDecision): number => {
  const evaluations = placed.map((ad) => replay.evaluate(ad, breakAt));
  const fates = fillPod(evaluations, { slots: placed.map(() => ({})), podDurationMs: undefined, kept: [] });
  return Math.max(0, fates.filter(({ kind }) => kind !== 'placed').length - spare);
};

/**
 * Adds up recorded decisions, each asked again at its break's instant, after what its device would have watched under the
 * draft until then. That a spare candidate may itself be blocked by the draft, or be too long, is not known: what is
 * lost is no less than is said here.
 */
export const createLostFillTally = (draft: CompiledRules): LostFillTally => {
  const figures = { decisions: 0, devices: 0, slots: 0, lost: 0 };
  const lostShare = createSampledShare();
  let [oldest, newest] = [Infinity, -Infinity];
  return {
    add: (history, decisions) => {
      const replay = createReplay(draft);
      let [slots, lost, next] = [0, 0, 0];
      for (const decision of decisions) {
        // Law 1: what was watched at the instant itself counts.
        for (let one = history[next]; one !== undefined && one.at <= decision.breakAt; one = history[next]) {
          replay.watch(one);
          next += 1;
        }
        slots += decision.placed.length;
        lost += lostIn(replay, decision);
        oldest = Math.min(oldest, decision.breakAt);
        newest = Math.max(newest, decision.breakAt);
      }
      if (slots === 0) return;
      figures.decisions += decisions.length;
      figures.devices += 1;
      figures.slots += slots;
      figures.lost += lost;
      lostShare.add(slots, lost);
    },
    result: () => {
      if (figures.slots === 0) return undefined;
      // Of how many decisions these are the newest is not known: as if of infinitely many.
      const { share, interval } = lostShare.estimate(0);
      return { ...figures, lostShare: share, interval, oldest: epochMs(oldest), newest: epochMs(newest) };
    },
  };
};
