import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadTopics } from '@adcap/local-servers';
import { clientsPage } from './generated/clients-page.ts';
import { configPage } from './generated/config-page.ts';
import { envExample } from './generated/env-example.ts';
import { errorsPage } from './generated/errors-page.ts';
import { eventsPage } from './generated/events-page.ts';
import { rulesSchema } from './generated/rules-schema.ts';
import { readServiceSettings } from './generated/service-settings.ts';

/* pnpm gen: what is derived from the sources. With --check nothing is written, and a difference is an error. */

const ROOT = path.resolve(import.meta.dirname, '../../..');

const makeFiles = async (): Promise<Map<string, string>> => {
  const services = await readServiceSettings();
  return new Map([
    ...services.map((of) => [`infra/env/${of.service}.env.example`, envExample(of)] as const),
    ['docs/clients.md', await clientsPage()],
    ['docs/config.md', configPage(services)],
    ['docs/errors.md', errorsPage()],
    ['docs/events.md', eventsPage(await loadTopics())],
    ['docs/rules.schema.json', rulesSchema()],
  ]);
};

const isCurrent = async (file: string, content: string): Promise<boolean> => {
  try {
    return (await readFile(path.join(ROOT, file), 'utf8')) === content;
  } catch {
    return false;
  }
};

const write = async (file: string, content: string): Promise<void> => {
  const target = path.join(ROOT, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, content);
};

const files = [...(await makeFiles())];
const current = await Promise.all(files.map(([file, content]) => isCurrent(file, content)));
const outdated = files.filter((_, index) => current[index] === false);

if (process.argv.includes('--check')) {
  for (const [file] of outdated)
    process.stderr.write(`${file} is not what the sources say: run \`pnpm gen\`\n`);
  process.exitCode = outdated.length > 0 ? 1 : 0;
} else {
  await Promise.all(outdated.map(([file, content]) => write(file, content)));
  for (const [file] of outdated) process.stdout.write(`${file}\n`);
}
