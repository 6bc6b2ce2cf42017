#!/usr/bin/env node
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { runCli } from './program.ts';

const ask = async (question: string): Promise<string> => {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await reader.question(question);
  } finally {
    reader.close();
  }
};

/** `pnpm adcap` runs in the root of the repository, wherever it was called. */
const calledIn =
  process.env['npm_lifecycle_event'] === 'adcap' ? (process.env['INIT_CWD'] ?? process.cwd()) : process.cwd();

process.exitCode = await runCli(process.argv.slice(2), {
  terminal: {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    ask: process.stdin.isTTY && process.stderr.isTTY ? ask : undefined,
  },
  resolve: (file) => path.resolve(calledIn, file),
  token: process.env['ADCAP_TOKEN'],
  nowMs: () => Date.now(),
});
