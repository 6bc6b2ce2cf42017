import { ERROR_CODES } from '@adcap/contracts';
import { loadTopics } from '@adcap/local-servers';
import { describe, expect, test } from 'vitest';
import { configPage } from '../src/generated/config-page.ts';
import { envExample } from '../src/generated/env-example.ts';
import { errorsPage } from '../src/generated/errors-page.ts';
import { eventsPage } from '../src/generated/events-page.ts';
import { markdownTable } from '../src/generated/markdown-table.ts';
import type { ServiceSettings, Setting } from '../src/generated/service-settings.ts';

const aSetting = (name: string, more: Partial<Setting> = {}): Setting => ({
  name,
  type: 'string',
  required: false,
  description: `what ${name} is`,
  ...more,
});

const services: ServiceSettings[] = [
  { service: 'a', settings: [aSetting('BOTH', { default: 'x' }), aSetting('ONLY_A', { required: true })] },
  { service: 'b', settings: [aSetting('BOTH', { default: 'x' }), aSetting('ONLY_B')] },
  { service: 'c', settings: [] },
];

test('a pipe in a cell does not begin another', () => {
  expect(markdownTable(['a', 'b'], [['x | y', 'z']])).toBe('| a | b |\n| --- | --- |\n| x \\| y | z |');
});

test('an env example sets only what must be set', () => {
  const [a] = services;
  expect(a === undefined ? '' : envExample(a)).toBe(`# Settings of a, made by \`pnpm gen\`.

# what BOTH is (string)
# BOTH=x

# what ONLY_A is (string)
ONLY_A=
`);
});

test('the settings page tells each setting once, and who reads a shared one', () => {
  const page = configPage(services);
  expect(page.match(/`BOTH`/g)).toHaveLength(1);
  expect(page).toContain('| `BOTH` | `x` | string | what BOTH is | a, b |');
  expect(page).toContain(
    '## a\n\n| variable | default | type | meaning |\n| --- | --- | --- | --- |\n| `ONLY_A` | **required** |',
  );
});

test('the errors page has every code', () => {
  const page = errorsPage();
  expect(Object.keys(ERROR_CODES).filter((code) => !page.includes(`| \`${code}\` |`))).toEqual([]);
});

describe('the events page', () => {
  test('says of every topic how long it is kept, and of every field whether it is always there', async () => {
    const page = eventsPage(await loadTopics());
    expect(page).toMatch(/^\| `adcap\.rules\.v1` \| .+ \| 1 \| compacted \|$/m);
    expect(page).toMatch(/^\| `adcap\.impressions\.v1` \| device \| .+ \| 48 h \|$/m);
    expect(page).toMatch(/^\| `fingerprint` \| string \| yes \|/m);
    expect(page).toMatch(/^\| `campaignId` \| string \| no \|/m);
  });

  test('is not made without a topic that the suite names', () => {
    expect(() => eventsPage([])).toThrow('topics.json lacks adcap.impressions.v1');
  });
});
