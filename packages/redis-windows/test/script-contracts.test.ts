import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { REFUSALS, refusalOf } from '../src/script-codes.ts';
import { advanceApplied } from '../src/scripts/advance-applied.ts';
import { applyHistory } from '../src/scripts/apply-history.ts';
import { applyWindow } from '../src/scripts/apply-window.ts';
import { commitReservations } from '../src/scripts/commit-reservations.ts';
import { eraseDevice } from '../src/scripts/erase-device.ts';
import { putRules } from '../src/scripts/put-rules.ts';
import { readDecision } from '../src/scripts/read-decision.ts';
import { releaseBreak } from '../src/scripts/release-break.ts';
import { trimDevice } from '../src/scripts/trim-device.ts';

const scripts = [
  advanceApplied,
  applyHistory,
  applyWindow,
  commitReservations,
  eraseDevice,
  putRules,
  readDecision,
  releaseBreak,
  trimDevice,
] as const;

const folder = new URL('../src/scripts/', import.meta.url);
const source = (name: string): string => readFileSync(new URL(`${name}.lua`, folder), 'utf8');
const headerOf = (lua: string): string => /^--\[\[([\s\S]*?)\]\]/.exec(lua)?.[1] ?? '';
const bodyOf = (lua: string): string => lua.replace(/^--\[\[[\s\S]*?\]\]/, '');
const found = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? '');
const numbersUsed = (body: string, table: string): number[] =>
  [...new Set(found(body, new RegExp(`${table}\\[(\\d+)\\]`, 'g')).map(Number))].toSorted((a, b) => a - b);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Parameters that carry a key into a function of a script. */
const KEY_PARAMETERS = ['key', 'meta', 'reservations'];

test('every Lua file is a script with a contract, or the prelude', () => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.lua'));
  const expected = ['prelude', ...scripts.map((script) => script.name)].map((name) => `${name}.lua`);
  expect(files.toSorted()).toEqual(expected.toSorted());
});

describe.for(scripts.map((script) => [script.name, script] as const))('%s', ([name, script]) => {
  const header = headerOf(source(name));
  const body = bodyOf(source(name));
  const stride = script.each?.length ?? 0;
  const firstRepeated = script.args.length + 1;

  test('says its purpose, guarantee and reply', () => {
    expect(header.trim()).toMatch(/^[A-Z][^\n]+/);
    expect(header).toContain('Guarantee:');
    expect(header).toMatch(/^Reply: /m);
  });

  test('names its keys and arguments as the contract does', () => {
    expect(found(header, /^KEYS\[\d+\] (\w+)/gm)).toEqual(script.keys);
    expect(found(header, /^KEYS\[(\d+)\]/gm).map(Number)).toEqual(upTo(script.keys.length));
    expect(found(header, /^ARGV\[\d+\] (\w+)/gm)).toEqual(script.args);
    expect(found(header, /^ARGV\[(\d+)\]/gm).map(Number)).toEqual(upTo(script.args.length));
    const repeated = /^ARGV\[(\d+)\.\.\] each: ([^(\n]+)/m.exec(header);
    expect(repeated?.[2]?.trim().split(', ')).toEqual(script.each);
    expect(repeated?.[1]).toBe(script.each === undefined ? undefined : String(firstRepeated));
  });

  test('uses each of them, and only them', () => {
    expect(numbersUsed(body, 'KEYS')).toEqual(upTo(script.keys.length));
    expect(numbersUsed(body, 'ARGV')).toEqual(upTo(script.args.length));
    const loop = /for i = \d+, #ARGV, \d+ do/.exec(body)?.[0];
    const expected = stride === 0 ? undefined : `for i = ${firstRepeated}, #ARGV, ${stride} do`;
    expect(loop).toBe(expected);
  });

  test('B12: touches only keys that it was given', () => {
    const keys = new Set<string>([...script.keys, ...KEY_PARAMETERS]);
    const touched = found(body, /redis\.call\('(?!TIME)[A-Z]+', ([^,)]+)/g);
    expect(touched.length).toBeGreaterThan(0);
    expect(touched.filter((key) => !keys.has(key))).toEqual([]);
    expect(
      found(body, /redis\.call\('([^']*)'/g).filter((command) => command !== command.toUpperCase()),
    ).toEqual([]);
  });

  test('binds its keys under the names of the contract', () => {
    const bound = /^local ([\w, ]+) = KEYS\[1\]/m.exec(body)?.[1];
    expect(bound?.split(', ')).toEqual(script.keys);
  });

  test('is short', () => {
    const lines = body.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('--'));
    expect(lines.length).toBeLessThanOrEqual(62);
  });
});

test('refusals are the same numbers in Lua and here, each of them once', () => {
  const written = new Map(
    [...source('prelude').matchAll(/(\w+) = (-\d+)/g)].map(([, name, code]) => [name, Number(code)] as const),
  );
  const inLua = { too_late: 'tooLate' } as Record<string, string>;
  for (const [name, code] of Object.entries(REFUSALS)) {
    expect(written.get(inLua[name] ?? name)).toBe(code);
    expect(refusalOf(code)).toBe(name);
  }
  expect(written.size).toBe(Object.keys(REFUSALS).length);
  expect(refusalOf(0)).toBeUndefined();
});
