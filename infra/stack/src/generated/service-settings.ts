import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { SERVICES } from '../services.ts';

/** One setting, as `main.ts --print-config` tells it. */
export type Setting = {
  name: string;
  type: string;
  required: boolean;
  default?: string;
  description: string;
};

export type ServiceSettings = { service: string; settings: readonly Setting[] };

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const run = promisify(execFile);

const settingsOf = async (service: string): Promise<ServiceSettings> => {
  const main = path.join(ROOT, 'services', service, 'src/main.ts');
  const { stdout } = await run(process.execPath, [main, '--print-config']);
  return { service, settings: JSON.parse(stdout) };
};

/** Asks every service for its settings, since no source outside of a service knows them. */
export const readServiceSettings = (): Promise<ServiceSettings[]> =>
  Promise.all(
    SERVICES.map(({ name }) => name)
      .toSorted()
      .map(settingsOf),
  );
