import type { RuleSetDraft } from '@adcap/contracts';
import type { Environment } from './environment.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { findingLine, judgeRulesText, type RulesFile, readText } from './rules-file.ts';

export type JudgeOptions = { retentionMs: number };

/** Judges a file and tells every error; a set only where there is none. */
export const judgeFile = async (
  file: string,
  { retentionMs }: JudgeOptions,
  env: Environment,
): Promise<RulesFile> => {
  const text = await readText(env.resolve(file), file);
  const judged = judgeRulesText(text, { retentionMs, nowMs: env.nowMs() });
  for (const error of judged.errors) env.terminal.out(findingLine(file, error, 'error'));
  return judged;
};

export const tellWarnings = (file: string, { warnings }: RulesFile, env: Environment): void => {
  for (const warning of warnings) env.terminal.out(findingLine(file, warning, 'warning'));
};

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

const summary = (draft: RuleSetDraft, warnings: number): string =>
  `${count(draft.rules.length, 'rule')}, ${count(warnings, 'warning')}`;

/** `adcap rules validate`: needs no service. */
export const validateRules = async (
  file: string,
  options: JudgeOptions & { strict: boolean },
  env: Environment,
): Promise<ExitCode> => {
  const judged = await judgeFile(file, options, env);
  const { draft, errors, warnings } = judged;
  if (draft === undefined) {
    env.terminal.err(`${file}: ${count(errors.length, 'error')}`);
    return EXIT.wrongRules;
  }
  tellWarnings(file, judged, env);
  env.terminal.err(`${file}: ${summary(draft, warnings.length)}`);
  return options.strict && warnings.length > 0 ? EXIT.wrongRules : EXIT.ok;
};
