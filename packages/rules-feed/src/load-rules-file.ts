import { readFile } from 'node:fs/promises';
import type { RuleFinding, RuleSetDraft } from '@adcap/contracts';
import { parseRuleSet, type RuleBounds } from '@adcap/rule-engine';
import { parse } from 'yaml';

/** Says which file cannot be used and why, a line for each rule and field. */
export class RulesFileError extends Error {
  override readonly name = 'RulesFileError';
}

const line = ({ ruleId, field, message }: RuleFinding): string => `  rule ${ruleId}, ${field}: ${message}`;

const parseYaml = (path: string, text: string): unknown => {
  try {
    return parse(text);
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new RulesFileError(`the rules file ${path} is not valid YAML: ${what}`, { cause });
  }
};

/** Reads a rule set from a YAML file. Throws a RulesFileError when any of it is wrong: it is never taken in part. */
export const loadRulesFile = async (path: string, bounds: RuleBounds): Promise<RuleSetDraft> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new RulesFileError(`the rules file ${path} cannot be read: ${what}`, { cause });
  }
  const set = parseRuleSet(parseYaml(path, text), bounds);
  if (set.ok) return set.draft;
  throw new RulesFileError(`the rules file ${path} is wrong:\n${set.errors.map(line).join('\n')}`);
};
