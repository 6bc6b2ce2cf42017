import { readFile } from 'node:fs/promises';
import type { RuleFinding, RuleSetDraft } from '@adcap/contracts';
import { parseRuleSet, type RuleBounds, warnRuleSet } from '@adcap/rule-engine';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';
import { openYaml } from './yaml-lines.ts';

/** A finding with the line of the file that it is about. */
export type LocatedFinding = RuleFinding & { line: number };

export type RulesFile = {
  /** `undefined`: something is wrong. */
  draft: RuleSetDraft | undefined;
  errors: readonly LocatedFinding[];
  warnings: readonly LocatedFinding[];
};

/** Findings that concern the file as a whole name it so. */
const THE_FILE = '';

const byLine = (a: LocatedFinding, b: LocatedFinding): number => a.line - b.line;

/** Judges the text of a rule set; every finding with its line. */
export const judgeRulesText = (text: string, options: RuleBounds & { nowMs: number }): RulesFile => {
  const { value, faults, lineOf } = openYaml(text);
  if (faults.length > 0) {
    const errors = faults.map((fault) => ({ ...fault, ruleId: THE_FILE, field: '' }));
    return { draft: undefined, errors, warnings: [] };
  }
  const locate = (finding: RuleFinding): LocatedFinding => ({ ...finding, line: lineOf(finding) });
  const parsed = parseRuleSet(value, options);
  return parsed.ok
    ? {
        draft: parsed.draft,
        errors: [],
        warnings: warnRuleSet(parsed.draft, options).map(locate).toSorted(byLine),
      }
    : { draft: undefined, errors: parsed.errors.map(locate).toSorted(byLine), warnings: [] };
};

export const readText = async (path: string, shown: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(EXIT.usage, `${shown} cannot be read: ${why}`, { cause });
  }
};

/** `file:line: rule X, field: message`, as compilers say it, so that editors and CI find the place. */
export const findingLine = (
  file: string,
  { line, ruleId, field, message }: LocatedFinding,
  kind: 'error' | 'warning',
): string => {
  const who = ruleId === THE_FILE ? '' : ruleId.startsWith('(') ? ruleId : `rule ${ruleId}`;
  const where = [who, field].filter((part) => part !== '').join(', ');
  return [
    `${file}:${line}`,
    ...(kind === 'warning' ? ['warning'] : []),
    ...(where === '' ? [] : [where]),
    message,
  ].join(': ');
};
