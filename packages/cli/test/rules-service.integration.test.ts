import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Servers, settingsFor, startProcess } from '@adcap/impression-consumer/testing';
import { test as base, waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { runCli } from '../src/program.ts';
import { aCall } from './a-call.ts';

const RULES_MAIN = fileURLToPath(new URL('../../../services/rules/src/main.ts', import.meta.url));
const CLI_MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const TOKENS = {
  ADCAP_TOKEN_VIEWER: 'viewer-token-for-the-tests',
  ADCAP_TOKEN_EDITOR: 'editor-token-for-the-tests',
  ADCAP_TOKEN_OPERATOR: 'operator-token-for-the-tests',
};

const CAPS = `rules:
  - id: any
    dimension: creative
    limit: { max: 3, window: 60m }
  - id: spot
    dimension: creative
    value: c1
    limit: { max: 2, window: 90m }
`;

const OFF = `  - id: sponsor
    dimension: brand
    value: sponsor.example
    limit: "OFF"
`;

/** The rules service as a process, and command lines that speak to it. */
const test = base.extend<{
  url: string;
  run: (
    call: { file?: string; token?: string | null; answers?: readonly string[] },
    ...args: string[]
  ) => Promise<{ code: number; out: string[]; err: string[]; asked: string[]; file: string }>;
}>({
  url: async ({ kafkaBrokers, redisUrl, topicPrefix, keyPrefix, topics }, use) => {
    expect(topics.length).toBeGreaterThan(0);
    const servers: Servers = { kafkaBrokers, redisUrl, topicPrefix, keyPrefix };
    const service = await startProcess(RULES_MAIN, {
      ...settingsFor(servers, 'ADCAP_RULES_PORT'),
      ...TOKENS,
    });
    await waitFor(
      async () => {
        const response = await fetch(new URL('/readyz', service.address));
        return /"kafka":\{"ok":true\}/.test(await response.text()) && response.status === 200;
      },
      { what: 'the rules service' },
    );
    await use(service.address);
    service.kill('SIGTERM');
    await service.exited;
  },
  run: async ({ url }, use) => {
    await use(async ({ file = CAPS, token = TOKENS.ADCAP_TOKEN_EDITOR, answers }, ...args) => {
      await using call = await aCall(
        { 'rules.yaml': file },
        { ...(token === null ? {} : { token }), ...(answers === undefined ? {} : { answers }) },
      );
      const code = await runCli(['rules', ...args, '--url', url], call.env);
      return { code, out: call.out, err: call.err, asked: call.asked, file: await call.read('rules.yaml') };
    });
  },
});

const NOTHING_WATCHED = 'preview: nothing has been watched that the change could be tried on';
const DIFF = ['+ rule any: creative (every one) 3/60m', '+ rule spot: creative c1 2/90m'];

describe('a rule set kept in git', () => {
  test('is compared, applied, exported, and then differs in nothing', async ({ run }) => {
    const before = await run({}, 'diff', 'rules.yaml', '--exit-code');
    expect(before).toMatchObject({ code: 8, out: DIFF, err: ['against version 1, which is in force'] });

    const applied = await run({}, 'apply', 'rules.yaml', '--note', 'from git', '--yes');
    expect(applied.out).toEqual([...DIFF, NOTHING_WATCHED, 'version 2 is in force']);
    expect(applied.code).toBe(0);
    expect(await run({}, 'diff', 'rules.yaml', '--exit-code')).toMatchObject({
      code: 0,
      out: [],
      err: ['rules.yaml is what is in force, version 2'],
    });
    expect(await run({}, 'apply', 'rules.yaml', '--note', 'again', '--yes')).toMatchObject({
      code: 0,
      out: [],
    });

    const changed = CAPS.replace('max: 3', 'max: 4').replace(
      'rules:',
      'dimensions: { brand: "off" }\nrules:',
    );
    expect((await run({ file: changed }, 'diff', 'rules.yaml')).out).toEqual([
      '~ dimension brand: on → off',
      '~ rule any',
      '    limit: 3/60m → 4/60m',
    ]);
    const exported = await run({ token: TOKENS.ADCAP_TOKEN_VIEWER }, 'export', 'rules.yaml');
    expect(exported.file).toMatch(
      /^# yaml-language-server: \$schema=.*docs\/rules\.schema\.json\ndimensions: \{\}\nrules:\n {2}- id: any\n/,
    );
    expect(await run({ file: exported.file }, 'diff', 'rules.yaml', '--exit-code')).toMatchObject({
      code: 0,
    });
    const printed = await run({}, 'export', '-', '--schema', 's.json');
    expect(printed.out.join('\n')).toContain('# yaml-language-server: $schema=s.json\n');
  });

  test('is put in force only when somebody says yes', async ({ run }) => {
    const apply = ['apply', 'rules.yaml', '--note', 'n'];
    const refused = await run({}, ...apply);
    expect(refused).toMatchObject({ code: 3, out: [...DIFF, NOTHING_WATCHED] });
    expect(refused.err.at(-1)).toContain('no terminal to ask at, so say --yes');
    expect(await run({ answers: ['y'] }, ...apply)).toMatchObject({ code: 3, asked: [expect.any(String)] });
    expect(await run({ answers: ['yes'] }, ...apply)).toMatchObject({ code: 0, asked: [expect.any(String)] });
  });

  test('is asked for twice where an OFF has no end, and only when that is new', async ({ run }) => {
    const apply = ['apply', 'rules.yaml', '--note', 'n'];
    const file = `${CAPS}${OFF}`;
    const refused = await run({ file }, ...apply, '--yes');
    expect(refused.code).toBe(3);
    expect(refused.out).toContain('think twice: rule sponsor says OFF and has no end');
    expect(refused.out).toContain('rules.yaml:9: warning: rule sponsor, endsAt: OFF has no end');
    expect(refused.err.at(-1)).toContain('so say --force');
    expect(await run({ file, answers: ['yes', 'no'] }, ...apply)).toMatchObject({ code: 3 });
    expect(await run({ file }, 'diff', 'rules.yaml', '--exit-code')).toMatchObject({ code: 8 });
    const applied = await run({ file, answers: ['yes', 'yes'] }, ...apply);
    expect([applied.code, applied.asked.length]).toEqual([0, 2]);
    const next = await run({ file: file.replace('max: 2', 'max: 1') }, ...apply, '--yes');
    expect(next).toMatchObject({ code: 0 });
    expect(next.out.join('\n')).not.toContain('think twice');
    const ends = file.replace('"OFF"', '"BLOCK"');
    expect(await run({ file: ends }, ...apply, '--yes', '--force')).toMatchObject({ code: 0 });
  });

  test('is refused when somebody else was faster, when it is wrong, or when the caller may not', async ({
    run,
    url,
  }) => {
    const apply = ['apply', 'rules.yaml', '--note', 'n'];
    // Whoever is asked takes their time; somebody else does not.
    await using slow = await aCall({ 'rules.yaml': CAPS }, { token: TOKENS.ADCAP_TOKEN_EDITOR });
    const env = {
      ...slow.env,
      terminal: {
        ...slow.env.terminal,
        ask: async () => {
          await run({ file: CAPS.replace('max: 3', 'max: 9') }, ...apply, '--yes');
          return 'yes';
        },
      },
    };
    expect(await runCli(['rules', ...apply, '--url', url], env)).toBe(4);
    expect(slow.err.at(-1)).toMatch(/somebody else was faster.*Version 2.*adcap rules diff/);
    expect(await run({ file: CAPS.replace('max: 3', 'max: 0') }, ...apply, '--yes')).toMatchObject({
      code: 1,
      out: ['rules.yaml:4: rule any, limit.max: must be at least 1'],
    });
    // The service keeps impressions for a day, whatever is said here.
    const long = await run({ file: CAPS.replace('60m', '48h') }, ...apply, '--yes', '--retention', '7d');
    expect(long.code).toBe(1);
    expect(long.out.at(-1)).toMatch(/^rule any, limit\.window: must not be longer/);
    expect(await run({ token: TOKENS.ADCAP_TOKEN_VIEWER }, ...apply, '--yes')).toMatchObject({
      code: 5,
      err: expect.arrayContaining([expect.stringContaining('HTTP 403: ADCAP_AUTH_ROLE')]),
    });
    expect(await run({ token: 'nobody’s'.replace('’', '') }, 'diff', 'rules.yaml')).toMatchObject({
      code: 5,
    });
    expect(await run({ token: null }, 'diff', 'rules.yaml')).toMatchObject({ code: 2 });
  });

  test('as a process: a token in a file, the result on the standard output, the code at its end', async ({
    url,
  }) => {
    await using call = await aCall({ 'rules.yaml': CAPS, token: `${TOKENS.ADCAP_TOKEN_EDITOR}\n` });
    const args = ['rules', 'apply', call.env.resolve('rules.yaml'), '--note', 'n', '--url', url];
    const runProcess = async (...more: string[]) => {
      const child = spawn(process.execPath, [CLI_MAIN, ...args, ...more], {
        env: { PATH: process.env['PATH'] },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const output = { out: '', err: '' };
      child.stdout.on('data', (chunk) => (output.out += String(chunk)));
      child.stderr.on('data', (chunk) => (output.err += String(chunk)));
      const [code] = await once(child, 'close');
      return { code, ...output };
    };
    const token = ['--token-file', call.env.resolve('token')];
    expect(await runProcess(...token)).toMatchObject({ code: 3 });
    expect(await runProcess('--yes')).toMatchObject({
      code: 2,
      err: expect.stringContaining('a token is needed'),
    });
    expect(await runProcess(...token, '--yes')).toMatchObject({
      code: 0,
      out: `${[...DIFF, NOTHING_WATCHED].join('\n')}\nversion 2 is in force\n`,
    });
  });
});
