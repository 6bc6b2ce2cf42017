import type { z } from 'zod';
import { closestName } from './closest-name.ts';

/** A service's settings: one zod object whose keys are the names of the environment variables themselves. */
export type ConfigSchema = z.ZodObject;

/** One wrong setting. Its message never holds the value, which may be a secret. */
export type ConfigProblem = { name: string; message: string };

/** Everything that is wrong with the settings, at once, each by its variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ name, message }) => `${name}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** An empty value is an unset one: `NAME=` in an env file must not turn into the number 0. */
const setVariables = (env: Environment): Map<string, string> => {
  const variables = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && value.trim() !== '') variables.set(name, value.trim());
  }
  return variables;
};

const unknownVariable = (name: string, known: readonly string[]): ConfigProblem => {
  const meant = closestName(name, known);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return { name, message: `is not a setting of this suite${hint}` };
};

const describeIssue = (issue: z.core.$ZodIssue, variables: Map<string, string>): ConfigProblem => {
  const name = issue.path.length === 0 ? 'settings' : String(issue.path[0]);
  const missing = issue.code === 'invalid_type' && !variables.has(name) && issue.path.length === 1;
  return {
    name,
    message: missing ? 'is required and not set' : issue.message.replace(/^Invalid input: /, ''),
  };
};

/**
 * Reads a service's settings from the environment. Throws one `ConfigError` that lists every problem: what is missing
 * or wrong, and every variable under the prefix that neither this service nor (`allowed`) the suite knows.
 */
export const loadConfig = <Schema extends ConfigSchema>(
  schema: Schema,
  env: Environment,
  options: { prefix?: string; allowed?: readonly string[] } = {},
): z.output<Schema> => {
  const { prefix = 'ADCAP_', allowed = [] } = options;
  const variables = setVariables(env);
  const known = [...new Set([...Object.keys(schema.shape), ...allowed])];
  const unknown = Object.keys(env).filter((name) => name.startsWith(prefix) && !known.includes(name));
  const problems = unknown.toSorted().map((name) => unknownVariable(name, known));

  const own = Object.keys(schema.shape).flatMap((name) => {
    const value = variables.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const result = schema.safeParse(Object.fromEntries(own));
  if (!result.success) problems.push(...result.error.issues.map((issue) => describeIssue(issue, variables)));
  if (problems.length > 0 || !result.success) throw new ConfigError(problems);
  return result.data;
};
