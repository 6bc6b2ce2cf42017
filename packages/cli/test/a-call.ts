import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Environment } from '../src/environment.ts';

type Options = {
  token?: string;
  nowMs?: number;
  /** What is typed at the terminal; without it there is none. */
  answers?: readonly string[];
};

/** A folder of one's own with files in it, and a command line in it whose output is kept. */
export const aCall = async (files: Readonly<Record<string, string>>, options: Options = {}) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'adcap-cli-'));
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(path.join(folder, name), text)));
  const [out, err, asked]: [string[], string[], string[]] = [[], [], []];
  const answers = options.answers === undefined ? undefined : [...options.answers];
  const env: Environment = {
    terminal: {
      out: (line) => void out.push(line),
      err: (line) => void err.push(line),
      ask:
        answers === undefined
          ? undefined
          : (question) => {
              asked.push(question);
              return Promise.resolve(answers.shift() ?? '');
            },
    },
    resolve: (file) => path.resolve(folder, file),
    token: options.token,
    nowMs: () => options.nowMs ?? Date.now(),
  };
  return {
    env,
    out,
    err,
    asked,
    write: (name: string, text: string) => writeFile(path.join(folder, name), text),
    read: (name: string) => readFile(path.join(folder, name), 'utf8'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
};
