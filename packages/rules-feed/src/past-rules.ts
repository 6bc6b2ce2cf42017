import { type CompiledRules, compileRules, type RuleBounds } from '@adcap/rule-engine';
import { readRulesRecord } from './read-rules-record.ts';

type Kept = { version: number; since: number; json: string };

/** As many as the topic keeps. */
const MAX_VERSIONS = 100;
/** Of text; a set may be megabytes, and be changed every minute. */
const MAX_CHARACTERS = 64 * 1_048_576;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const BEGINNING = /^\{"schema":1,"version":([1-9]\d{0,14}),/;
const END = /"publishedAt":(\d{1,15})\}$/;
/** Where the end lies. */
const END_LENGTH = 40;

/** As this release writes it, megabytes need not be read for two numbers. */
const headAsWritten = (json: string): Omit<Kept, 'json'> | undefined => {
  const version = BEGINNING.exec(json)?.[1];
  const since = END.exec(json.slice(-END_LENGTH))?.[1];
  return version === undefined || since === undefined
    ? undefined
    : { version: Number(version), since: Number(since) };
};

/** What is needed of a version before anybody asks about it; its rules are judged then. */
const headOf = (json: string): Omit<Kept, 'json'> | undefined => {
  const written = headAsWritten(json);
  if (written !== undefined) return written;
  try {
    const value: unknown = JSON.parse(json);
    if (!isRecord(value)) return undefined;
    const { version, publishedAt: since } = value;
    return typeof version === 'number' && typeof since === 'number' ? { version, since } : undefined;
  } catch {
    return undefined;
  }
};

/**
 * The versions of the rules that were in force within the retention, by when they were published. Bounded: what was
 * superseded before that is forgotten, and of many or large ones the oldest.
 */
export class PastRules {
  readonly #bounds: RuleBounds;
  readonly #nowMs: () => number;
  /** By version, ascending. */
  #kept: Kept[] = [];
  #lastAsked: { json: string; rules: CompiledRules | undefined } | undefined;

  constructor(bounds: RuleBounds, nowMs: () => number) {
    this.#bounds = bounds;
    this.#nowMs = nowMs;
  }

  /** @param isExpected whether it may be this version, where the topic names that in the key; another is passed over */
  note(json: string, isExpected: (version: number) => boolean = () => true): void {
    const head = headOf(json);
    if (head === undefined || !isExpected(head.version)) return;
    const others = this.#kept.filter(({ version }) => version !== head.version);
    this.#kept = [...others, { ...head, json }].toSorted((a, b) => a.version - b.version);
    this.#forget();
  }

  /**
   * The version that was in force at an instant, compiled. `undefined` where that is not known: before the first one that is
   * remembered, where a version between two is missing, or where today's laws refuse it.
   *
   * @param newest the version in force now: a later one was refused, or is only arriving
   */
  at(instant: number, newest: number): CompiledRules | undefined {
    this.#forget();
    const known = this.#kept.filter(({ version }) => version <= newest);
    const index = known.findLastIndex(({ since }) => since <= instant);
    const found = known[index];
    if (found === undefined) return undefined;
    const next = known[index + 1];
    const isWhole = found.version === newest || next?.version === found.version + 1;
    return isWhole ? this.#compiled(found) : undefined;
  }

  #compiled({ json }: Kept): CompiledRules | undefined {
    if (this.#lastAsked?.json !== json) {
      const read = readRulesRecord(json, this.#bounds);
      this.#lastAsked = { json, rules: read.ok ? compileRules(read.record) : undefined };
    }
    return this.#lastAsked.rules;
  }

  #forget(): void {
    const horizon = this.#nowMs() - this.#bounds.retentionMs;
    let characters = 0;
    this.#kept = this.#kept
      .filter((_, index, all) => (all[index + 1]?.since ?? Infinity) >= horizon)
      .slice(-MAX_VERSIONS)
      .toReversed()
      .filter(({ json }) => {
        characters += json.length;
        return characters <= MAX_CHARACTERS;
      })
      .toReversed();
  }
}
