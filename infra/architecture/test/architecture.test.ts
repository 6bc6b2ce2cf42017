import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { CLIENT_HOMES, IMPORT_TABLE } from '@adcap/architecture';
import { describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const SPECIFIER = /(?<![\w'-])(?:from|import)\s*\(?\s*'([^']+)'/g;

const workspaces = globSync('{packages,services,infra}/*/package.json', { cwd: root }).map((file) =>
  path.dirname(file),
);
const sourcesOf = (workspace: string): string[] => globSync(`${workspace}/src/**/*.ts`, { cwd: root });

type Import = { file: string; specifier: string };

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

const importsOf = (workspace: string): Import[] =>
  sourcesOf(workspace).flatMap((file) =>
    [...withoutComments(readFileSync(path.join(root, file), 'utf8')).matchAll(SPECIFIER)].map(
      ([, specifier = '']) => ({ file, specifier }),
    ),
  );

const packageOf = (specifier: string): string => {
  const [first = '', second] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
};

/** Why the table does not allow an import, or undefined. */
const complaint = (workspace: string, { file, specifier }: Import): string | undefined => {
  const allowed = IMPORT_TABLE[workspace];
  if (allowed === undefined) return `${workspace} is not in the import table`;
  if (specifier.startsWith('.')) {
    const target = path.join(path.dirname(file), specifier);
    return target.startsWith(`${workspace}/`) ? undefined : `${file} leaves its package by ${specifier}`;
  }
  if (isBuiltin(specifier)) return allowed.node ? undefined : `${file} may not import ${specifier}`;
  const name = packageOf(specifier);
  if (name.startsWith('@adcap/')) {
    if (specifier.includes('/src/')) return `${file} reaches into ${specifier}`;
    const ours = name.slice('@adcap/'.length);
    return allowed.ours.includes(ours) || workspace.endsWith(`/${ours}`)
      ? undefined
      : `${file} may not import ${name}`;
  }
  return allowed.thirdParty.includes(name) ? undefined : `${file} may not import ${name}`;
};

describe('dependencies point one way', () => {
  test('every workspace folder is in the table, and the other way round', () => {
    expect(Object.keys(IMPORT_TABLE).toSorted()).toEqual(workspaces.toSorted());
  });

  test.for(Object.keys(IMPORT_TABLE))('%s imports only what the table allows', (workspace) => {
    const imports = importsOf(workspace);
    expect(imports.map((one) => complaint(workspace, one)).filter((found) => found !== undefined)).toEqual(
      [],
    );
  });

  test('no manifest declares a workspace package that the table does not allow its sources', () => {
    const offending = workspaces.flatMap((workspace) => {
      const manifest: { dependencies?: Record<string, string> } = JSON.parse(
        readFileSync(path.join(root, workspace, 'package.json'), 'utf8'),
      );
      return Object.keys(manifest.dependencies ?? {})
        .filter((name) => name.startsWith('@adcap/'))
        .filter((name) => IMPORT_TABLE[workspace]?.ours.includes(name.slice('@adcap/'.length)) === false)
        .map((name) => `${workspace} → ${name}`);
    });
    expect(offending).toEqual([]);
  });

  test.for(Object.entries(CLIENT_HOMES))('%s lives in its homes alone', ([client, homes]) => {
    const elsewhere = workspaces
      .filter((workspace) => !homes.includes(workspace))
      .flatMap(importsOf)
      .filter(({ specifier }) => packageOf(specifier) === client);
    expect(elsewhere).toEqual([]);
  });

  test('only a main.ts reads the environment', () => {
    const readers = workspaces
      .filter(
        (workspace) =>
          workspace.startsWith('services/') || /packages\/(?!local-servers|testkit)/.test(workspace),
      )
      .flatMap(sourcesOf)
      .filter((file) => /\bprocess\.env\b/.test(withoutComments(readFileSync(path.join(root, file), 'utf8'))))
      .filter((file) => !/^(?:services\/[^/]+|packages\/cli)\/src\/main\.ts$/.test(file));
    expect(readers).toEqual([]);
  });
});
