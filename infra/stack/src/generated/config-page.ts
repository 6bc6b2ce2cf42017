import { GENERATED_BY, markdownTable } from './markdown-table.ts';
import type { ServiceSettings, Setting } from './service-settings.ts';

const shownDefault = ({ required, default: value }: Setting): string => {
  if (required) return '**required**';
  return value === undefined || value === '' ? '–' : `\`${value}\``;
};

const cells = (setting: Setting): string[] => [
  `\`${setting.name}\``,
  shownDefault(setting),
  setting.type,
  setting.description,
];

/** Every setting once: those of several services together, then each service's own. */
export const configPage = (services: readonly ServiceSettings[]): string => {
  const users = (name: string): string[] =>
    services
      .filter(({ settings }) => settings.some((setting) => setting.name === name))
      .map(({ service }) => service);
  const isShared = ({ name }: Setting): boolean => users(name).length > 1;
  const shared = new Map(
    services.flatMap(({ settings }) => settings.filter(isShared)).map((setting) => [setting.name, setting]),
  );
  const own = services.map(({ service, settings }) => {
    const rows = settings.filter((setting) => !isShared(setting)).map(cells);
    return `## ${service}\n\n${markdownTable(['variable', 'default', 'type', 'meaning'], rows)}\n`;
  });
  const readBy = (name: string): string =>
    users(name).length === services.length ? 'all' : users(name).join(', ');
  const sharedRows = [...shared.values()].map((setting) => [...cells(setting), readBy(setting.name)]);
  return `${GENERATED_BY}

# Settings

Every setting is an environment variable; an empty one counts as not set. A variable that begins with \`ADCAP_\` and is none of these
stops a service at its start. \`node services/<service>/src/main.ts --check-config\` judges an environment and starts nothing.

## Shared

${markdownTable(['variable', 'default', 'type', 'meaning', 'read by'], sharedRows)}

${own.join('\n')}`;
};
