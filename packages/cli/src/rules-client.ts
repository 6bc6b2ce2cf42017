import { dimensionSwitchesSchema, type RuleSet, type RuleSetDraft, ruleSchema } from '@adcap/contracts';
import { z } from 'zod';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';

const LIMIT_MS = 30_000;

const ruleSetSchema = z.object({
  version: z.number().int(),
  dimensions: dimensionSwitchesSchema,
  rules: z.array(ruleSchema),
});

const problemSchema = z.looseObject({
  code: z.string().optional(),
  detail: z.string().optional(),
  title: z.string().optional(),
  state: z.enum(['unchanged', 'stored', 'unknown']).optional(),
  version: z.number().optional(),
  errors: z.array(z.object({ ruleId: z.string(), field: z.string(), message: z.string() })).optional(),
});

export type Problem = z.output<typeof problemSchema>;

/** What is needed of a preview. */
const previewSchema = z.looseObject({
  impressions: z.number(),
  blocked: z.number(),
  blockedShare: z.number(),
  newlyBlocked: z.number(),
  newlyBlockedShare: z.number(),
});

export type Preview = z.output<typeof previewSchema>;

/** The rules in force, and what to name when they are replaced. */
export type InForce = { ruleSet: RuleSet; etag: string };

/** What became of a PUT. */
export type PutResult =
  | { kind: 'done'; version: number }
  | { kind: 'stale'; problem: Problem }
  /** Nobody answered: what was sent may have arrived. */
  | { kind: 'lost'; cause: unknown }
  | { kind: 'problem'; status: number; problem: Problem };

export type RulesClient = {
  read(): Promise<InForce>;
  put(draft: RuleSetDraft, options: { etag: string; note: string }): Promise<PutResult>;
  preview(draft: RuleSetDraft): Promise<{ kind: 'told'; preview: Preview } | { kind: 'none'; why: string }>;
};

type Answer = { status: number; headers: Headers; body: unknown };

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const problemOf = ({ body }: Answer): Problem => {
  const parsed = problemSchema.safeParse(body);
  return parsed.success ? parsed.data : {};
};

/** A problem in one line. */
export const problemText = (status: number, { code, detail, title }: Problem): string =>
  [`HTTP ${status}`, code, detail ?? title].filter((part) => part !== undefined).join(': ');

const whyNoAnswer = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
};

const refusal = (status: number, problem: Problem): CliError =>
  new CliError(status >= 500 ? EXIT.unavailable : EXIT.refused, problemText(status, problem));

/** The rules service over HTTP. Redirects are not followed: the token is for this address alone. */
export const createRulesClient = (url: string, token: string): RulesClient => {
  const call = async (
    method: string,
    path: string,
    body?: { json: unknown; etag?: string },
  ): Promise<Answer> => {
    const response = await fetch(new URL(path, url), {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(LIMIT_MS),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(body?.etag === undefined ? {} : { 'if-match': body.etag }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body.json) }),
    });
    return { status: response.status, headers: response.headers, body: parseJson(await response.text()) };
  };
  return {
    read: async () => {
      const answer = await call('GET', '/v1/rules').catch((cause: unknown): never => {
        throw new CliError(EXIT.unavailable, `${url} does not answer: ${whyNoAnswer(cause)}`, { cause });
      });
      if (answer.status !== 200) throw refusal(answer.status, problemOf(answer));
      const parsed = ruleSetSchema.safeParse(answer.body);
      const etag = answer.headers.get('etag');
      if (!parsed.success || etag === null) {
        const issue = parsed.error?.issues[0];
        const what =
          issue === undefined ? 'no ETag' : `${issue.path.map(String).join('.')}: ${issue.message}`;
        throw new CliError(EXIT.refused, `${url} answers with no rule set that this release knows (${what})`);
      }
      return { ruleSet: parsed.data, etag };
    },
    put: async ({ dimensions, rules }, { etag, note }) => {
      let answer: Answer;
      try {
        answer = await call('PUT', '/v1/rules', { json: { dimensions, rules, note }, etag });
      } catch (cause) {
        return { kind: 'lost', cause };
      }
      const version = z.looseObject({ version: z.number().int() }).safeParse(answer.body);
      if (answer.status === 200 && version.success) return { kind: 'done', version: version.data.version };
      const problem = problemOf(answer);
      return answer.status === 412
        ? { kind: 'stale', problem }
        : { kind: 'problem', status: answer.status, problem };
    },
    preview: async ({ dimensions, rules }) => {
      try {
        const answer = await call('POST', '/v1/rules/preview', { json: { dimensions, rules } });
        if (answer.status === 404) return { kind: 'none', why: 'this service has none' };
        const parsed = previewSchema.safeParse(answer.body);
        return answer.status === 200 && parsed.success
          ? { kind: 'told', preview: parsed.data }
          : { kind: 'none', why: problemText(answer.status, problemOf(answer)) };
      } catch (error) {
        return { kind: 'none', why: whyNoAnswer(error) };
      }
    },
  };
};
