import type { RuleSetDraft } from '@adcap/contracts';
import { diffRuleSets, isEmptyDiff, type RuleSetDiff } from '@adcap/rule-engine';
import { type ConnectOptions, connect } from './connect.ts';
import { diffLines } from './diff-lines.ts';
import type { Environment } from './environment.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { InForce } from './rules-client.ts';
import { type JudgeOptions, judgeFile } from './validate-rules.ts';

/** Tells what a file would change. */
export const tellDiff = (
  { ruleSet }: InForce,
  { draft, file }: { draft: RuleSetDraft; file: string },
  env: Environment,
): RuleSetDiff => {
  const diff = diffRuleSets(ruleSet, draft);
  for (const line of diffLines(diff)) env.terminal.out(line);
  env.terminal.err(
    isEmptyDiff(diff)
      ? `${file} is what is in force, version ${ruleSet.version}`
      : `against version ${ruleSet.version}, which is in force`,
  );
  return diff;
};

/** `adcap rules diff`: what the file would change against the rules in force. */
export const diffRules = async (
  file: string,
  options: JudgeOptions & ConnectOptions & { exitCode: boolean },
  env: Environment,
): Promise<ExitCode> => {
  const { draft } = await judgeFile(file, options, env);
  if (draft === undefined) return EXIT.wrongRules;
  const client = await connect(options, env);
  const diff = tellDiff(await client.read(), { draft, file }, env);
  return options.exitCode && !isEmptyDiff(diff) ? EXIT.differs : EXIT.ok;
};
