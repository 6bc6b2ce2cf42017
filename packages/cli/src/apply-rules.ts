import type { RuleSetDraft } from '@adcap/contracts';
import { isEmptyDiff } from '@adcap/rule-engine';
import { CliError } from './cli-error.ts';
import { type ConnectOptions, connect } from './connect.ts';
import { tellDiff } from './diff-rules.ts';
import { doubtsOf, percent } from './doubts.ts';
import type { Environment } from './environment.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type Preview, type Problem, type PutResult, problemText, type RulesClient } from './rules-client.ts';
import { type JudgeOptions, judgeFile, tellWarnings } from './validate-rules.ts';

export type ApplyOptions = JudgeOptions &
  ConnectOptions & {
    note: string;
    /** Said yes beforehand. */
    yes: boolean;
    /** Said yes a second time. */
    force: boolean;
  };

const tellPreview = async (
  client: RulesClient,
  draft: RuleSetDraft,
  env: Environment,
): Promise<Preview | undefined> => {
  const answer = await client.preview(draft);
  if (answer.kind === 'none') {
    env.terminal.err(`no preview is available: ${answer.why}`);
    return undefined;
  }
  const { impressions, blocked, newlyBlocked, newlyBlockedShare } = answer.preview;
  env.terminal.out(
    impressions === 0
      ? 'preview: nothing has been watched that the change could be tried on'
      : `preview: ${blocked} of ${impressions} impressions would have been blocked, ${newlyBlocked} of them by the change (${percent(newlyBlockedShare)})`,
  );
  return answer.preview;
};

const askedFor = async (question: string, env: Environment): Promise<boolean> =>
  (await env.terminal.ask?.(`${question} Type yes: `))?.trim() === 'yes';

/** Without a terminal both answers are options; at one, an option answers its own question. */
const isConfirmed = async (
  doubts: readonly string[],
  options: ApplyOptions,
  env: Environment,
): Promise<boolean> => {
  const { ask } = env.terminal;
  for (const doubt of doubts) env.terminal.out(`think twice: ${doubt}`);
  const missing = [
    ...(options.yes ? [] : ['--yes']),
    ...(options.force || doubts.length === 0 ? [] : ['--force']),
  ];
  if (ask === undefined && missing.length > 0)
    throw new CliError(
      EXIT.notConfirmed,
      `nothing was changed: there is no terminal to ask at, so say ${missing.join(' ')}`,
    );
  if (!options.yes && !(await askedFor('Put these rules in force?', env))) return false;
  return (
    doubts.length === 0 || options.force || askedFor('In spite of what is to be thought about twice?', env)
  );
};

const tellErrors = ({ errors = [] }: Problem, env: Environment): void => {
  for (const { ruleId, field, message } of errors) env.terminal.out(`rule ${ruleId}, ${field}: ${message}`);
};

/** The service says what a failed change leaves; sent again blindly, one that is stored would only be stale. */
const leftBy = ({ state }: Problem): ExitCode => {
  if (state === 'stored' || state === 'unknown') return EXIT.uncertain;
  return EXIT.unavailable;
};

const tellResult = (result: PutResult, env: Environment): ExitCode => {
  switch (result.kind) {
    case 'done':
      env.terminal.out(`version ${result.version} is in force`);
      return EXIT.ok;
    case 'stale':
      throw new CliError(
        EXIT.stale,
        `nothing was changed, somebody else was faster. ${result.problem.detail ?? ''} Look at \`adcap rules diff\` again.`,
      );
    case 'lost': {
      const why = result.cause instanceof Error ? result.cause.message : String(result.cause);
      throw new CliError(
        EXIT.uncertain,
        `the answer was lost (${why}): the rules may be in force or not. Look at \`adcap rules diff\` before sending anything again.`,
        { cause: result.cause },
      );
    }
    case 'problem': {
      const { status, problem } = result;
      tellErrors(problem, env);
      throw new CliError(
        status >= 500 ? leftBy(problem) : problem.errors === undefined ? EXIT.refused : EXIT.wrongRules,
        problemText(status, problem),
      );
    }
  }
};

/** `adcap rules apply`: puts a file in force, against the version that it was compared to. */
export const applyRules = async (
  file: string,
  options: ApplyOptions,
  env: Environment,
): Promise<ExitCode> => {
  const judged = await judgeFile(file, options, env);
  const { draft } = judged;
  if (draft === undefined) return EXIT.wrongRules;
  const client = await connect(options, env);
  const inForce = await client.read();
  const diff = tellDiff(inForce, { draft, file }, env);
  if (isEmptyDiff(diff)) return EXIT.ok;
  tellWarnings(file, judged, env);
  const preview = await tellPreview(client, draft, env);
  if (!(await isConfirmed(doubtsOf(draft, diff, preview), options, env))) {
    env.terminal.err('nothing was changed');
    return EXIT.notConfirmed;
  }
  return tellResult(await client.put(draft, { etag: inForce.etag, note: options.note }), env);
};
