import { randomBytes } from 'node:crypto';

export const ROLES = ['viewer', 'editor', 'operator'] as const;
type Role = (typeof ROLES)[number];
export type Tokens = Record<Role, string>;

const given = (role: Role, env: NodeJS.ProcessEnv): string =>
  env[`ADCAP_TOKEN_${role.toUpperCase()}`] || randomBytes(18).toString('base64url');

/** The tokens of the environment; a role that has none gets a random one for this run. */
export const makeTokens = (env: NodeJS.ProcessEnv): Tokens => ({
  viewer: given('viewer', env),
  editor: given('editor', env),
  operator: given('operator', env),
});
