import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { VersionArchive } from '../src/version-archive.ts';

const recordOf = (version: number, more: object = {}): string =>
  JSON.stringify({ schema: 1, version, dimensions: {}, rules: [{ id: 'a' }], publishedAt: 7, ...more });

test('a version is told back as it was noted, and listed newest first without its rules', () => {
  const archive = new VersionArchive();
  for (const version of [2, 1, 3]) archive.note(version, recordOf(version, { author: 'jane', note: 'ü' }));
  expect(archive.json(1)).toBe(recordOf(1, { author: 'jane', note: 'ü' }));
  expect(archive.json(4)).toBeUndefined();
  expect(archive.heads()).toEqual(
    [3, 2, 1].map((version) => ({ version, author: 'jane', note: 'ü', publishedAt: 7, ruleCount: 1 })),
  );
});

test('of two texts under one number the later one counts', () => {
  const archive = new VersionArchive();
  archive.note(1, recordOf(1, { note: 'first' }));
  archive.note(1, recordOf(1, { note: 'later' }));
  expect(archive.heads()).toMatchObject([{ version: 1, note: 'later' }]);
});

test('what is no version of that number is passed over, and a deleted one is forgotten', () => {
  const archive = new VersionArchive();
  archive.note(1, recordOf(1));
  for (const text of ['not json', '[]', 'null', recordOf(2), JSON.stringify({ version: 1 })])
    archive.note(1, text);
  expect(archive.json(1)).toBe(recordOf(1));
  archive.forget(1);
  expect(archive.heads()).toEqual([]);
});

test('the newest 100 are kept', () => {
  const archive = new VersionArchive();
  for (let version = 1; version <= 130; version += 1) archive.note(version, recordOf(version));
  const versions = archive.heads().map(({ version }) => version);
  expect([versions.length, versions[0], versions.at(-1)]).toEqual([100, 130, 31]);
});

test('of large ones the newest are kept', () => {
  const archive = new VersionArchive(10_000);
  for (let version = 1; version <= 9; version += 1)
    archive.note(version, recordOf(version, { note: randomBytes(3_000).toString('base64') }));
  expect(archive.heads().map(({ version }) => version)).toEqual([9, 8, 7]);
  expect(archive.json(6)).toBeUndefined();
});
