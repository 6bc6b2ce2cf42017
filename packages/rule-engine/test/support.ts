import { type Context, type EpochMs, epochMs, type Rule, type ValueKey, valueKey } from '@adcap/contracts';
import { compileRules, createTimeline, type Evaluation, evaluateAd, parseRuleSet } from '@adcap/rule-engine';
import { type OracleAd, type OracleView, toEngineAd, toEngineView } from '@adcap/testkit/oracle';

/** 09:00 of some day: tables read as times of that day. */
export const NINE = epochMs(Date.UTC(2026, 2, 2, 9));
export const minutes = (count: number): number => count * 60_000;
export const clock = (time: string): EpochMs => epochMs(Date.parse(`2026-03-02T${time}:00Z`));

const keys = new Map<string, ValueKey>();
export const keyOf = (value: string): ValueKey => {
  const known = keys.get(value) ?? valueKey(keys.size + 1);
  keys.set(value, known);
  return known;
};

/** `"3/60m"` as a limit. */
export const cap = (text: string): { max: number; window: string } => {
  const [max = '', window = ''] = text.split('/');
  return { max: Number(max), window };
};

let nextId = 0;
/** A rule named after what it says unless it is given an id. */
export const aRule = (rule: Omit<Rule, 'id'> & { id?: string }): Rule => ({
  id: `rule-${(nextId += 1)}`,
  ...rule,
});

export type Scene = {
  rules: readonly Rule[];
  dimensions?: Record<string, 'on' | 'off'>;
  watched?: readonly OracleView[];
  reserved?: readonly OracleView[];
  at?: EpochMs;
  context?: Context;
};

/** Evaluates one ad in a scene, the rule set going through the same door as a real one. */
export const evaluate = (scene: Scene, ad: OracleAd): Evaluation => {
  const parsed = parseRuleSet(
    { dimensions: scene.dimensions ?? {}, rules: scene.rules },
    { retentionMs: 86_400_000 },
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return evaluateAd(compileRules({ version: 1, ...parsed.draft }), toEngineAd(ad, keyOf), {
    at: scene.at ?? NINE,
    context: scene.context ?? {},
    known: {
      watched: createTimeline((scene.watched ?? []).map((view) => toEngineView(view, keyOf))),
      reserved: createTimeline((scene.reserved ?? []).map((view) => toEngineView(view, keyOf))),
    },
  });
};

/** n impressions of an ad, one second apart, the newest a second before 09:00. */
export const seen = (ad: OracleAd, times: number): OracleView[] =>
  Array.from({ length: times }, (_, index) => ({ ...ad, at: NINE - 1_000 * (index + 1) }));
