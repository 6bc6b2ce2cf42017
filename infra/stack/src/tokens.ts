import { randomBytes } from 'node:crypto';

export const ROLES = ['viewer', 'editor', 'operator'] as const;
type Role = (typeof ROLES)[number];
export type Tokens = Record<Role, string>;

/** A list, a named or a hashed token: nothing that this stack could send itself. */
const IS_LIST = /[=,]|^sha256:/;

const settingOf = (role: Role, env: NodeJS.ProcessEnv): string =>
  env[`ADCAP_TOKEN_${role.toUpperCase()}`] ?? '';

const tokenOf = (role: Role, env: NodeJS.ProcessEnv): string => {
  const setting = settingOf(role, env);
  return setting === '' || IS_LIST.test(setting) ? randomBytes(18).toString('base64url') : setting;
};

/** A token a role that this stack can print and send: the environment's where it is a plain one, else a random one. */
export const makeTokens = (env: NodeJS.ProcessEnv): Tokens => ({
  viewer: tokenOf('viewer', env),
  editor: tokenOf('editor', env),
  operator: tokenOf('operator', env),
});

/** What services are told: the environment's tokens, and this stack's own. */
export const tokenSetting = (role: Role, env: NodeJS.ProcessEnv, tokens: Tokens): string => {
  const setting = settingOf(role, env);
  return IS_LIST.test(setting) ? `${setting},${tokens[role]}` : tokens[role];
};
