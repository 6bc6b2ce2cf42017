import type { ServiceSettings, Setting } from './service-settings.ts';

/** Only what must be set stands uncommented; the others show what they are when they are not set. */
const entry = ({ name, description, type, required, default: value = '' }: Setting): string =>
  `# ${description} (${type})\n${required ? '' : '# '}${name}=${value}\n`;

export const envExample = ({ service, settings }: ServiceSettings): string =>
  [`# Settings of ${service}, made by \`pnpm gen\`.\n`, ...settings.map(entry)].join('\n');
