import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createSelectionClient } from '@adcap/client-sdk';
import { complain, say, stopSignal } from '@adcap/stack/processes';
import { startBrokenServices } from './broken-services.ts';
import { type Asked, CLIENT_PROGRAMS, type ClientProgram, missingTools } from './client-programs.ts';
import { openService } from './open-service.ts';

/*
 * pnpm examples: compiles the clients of docs/clients and compares what they answer with what the client of TypeScript does: before a
 * real ad selection, and before every way in which it can be out of reach.
 */

const PATIENT_MS = 10_000;

/** What the programs ask for, too. */
const CANDIDATES = [
  { creativeId: 'spring "sale"', brandId: 'acme.example' },
  { creativeId: 'b' },
  { creativeId: 'c', industryIds: ['auto'] },
];

/** The moment of an answer, and what TypeScript adds for the caller's log. */
const OWN_FIELDS = ['serverTime', 'clientError'];

/** The fields in which two answers differ. */
const differences = (ours: object, theirs: object): string[] => {
  const [our, their] = [new Map(Object.entries(ours)), new Map(Object.entries(theirs))];
  return [...new Set([...our.keys(), ...their.keys()])]
    .filter((field) => !OWN_FIELDS.includes(field))
    .filter(
      (field) => our.has(field) !== their.has(field) || !isDeepStrictEqual(our.get(field), their.get(field)),
    )
    .map((field) => `${field} is ${JSON.stringify(their.get(field))}, not ${JSON.stringify(our.get(field))}`);
};

const askTypeScript = async ({ url, timeoutMs, breakId, breakAt }: Asked) =>
  createSelectionClient({ baseUrl: url, timeoutMs }).select({
    deviceId: 'tv-1',
    breakId,
    breakAt,
    slots: 2,
    candidates: CANDIDATES,
  });

type Said = { source: string; degradedReason?: string | undefined };
type Case = { what: string; asked: Asked; expected: (answer: Said) => boolean };

/** Compares one answer; gives what is wrong with it. */
const compare = async (
  program: ClientProgram,
  folder: string,
  { what, asked, expected }: Case,
): Promise<string[]> => {
  const ours = await askTypeScript(asked);
  if (!expected(ours)) return [`${what}: TypeScript answers ${JSON.stringify(ours)}`];
  const theirs: unknown = JSON.parse(await program.ask(folder, asked));
  if (typeof theirs !== 'object' || theirs === null)
    return [`${program.language}, ${what}: ${JSON.stringify(theirs)} is no answer`];
  const found = differences(ours, theirs);
  say(`${program.language.padEnd(4)}  ${what}: ${found.length === 0 ? 'the same' : 'ANOTHER ANSWER'}`);
  return found.map((difference) => `${program.language}, ${what}: ${difference}`);
};

const runAll = async (signal: AbortSignal): Promise<string[]> => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'adcap-examples-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await Promise.all(CLIENT_PROGRAMS.map((program) => program.compile(folder)));
  const breakAt = Date.now();
  const url = await openService(stack, { folder, signal });
  const cases: Case[] = [
    {
      what: 'a real answer',
      // One break for all: whoever asks again is given the stored pod.
      asked: { url, timeoutMs: PATIENT_MS, breakId: 'examples', breakAt },
      expected: ({ source }) => source === 'quotas',
    },
    ...(await startBrokenServices(stack)).map(({ what, reason, ...service }) => ({
      what,
      asked: { ...service, breakId: 'examples', breakAt },
      expected: (answer: Said) => answer.source === 'open' && answer.degradedReason === reason,
    })),
  ];
  const wrong: string[] = [];
  for (const one of cases) {
    for (const program of CLIENT_PROGRAMS) {
      signal.throwIfAborted();
      // oxlint-disable-next-line no-await-in-loop -- one after the other, so that none is slowed down by another
      wrong.push(...(await compare(program, folder, one)));
    }
  }
  return wrong;
};

const missing = await missingTools(CLIENT_PROGRAMS);
for (const line of missing) complain(line);
if (missing.length > 0) process.exit(1);

const signal = stopSignal();
try {
  const wrong = await runAll(signal);
  for (const line of wrong) complain(line);
  process.exitCode = wrong.length > 0 ? 1 : 0;
} catch (error) {
  if (!signal.aborted) complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
process.exit();
