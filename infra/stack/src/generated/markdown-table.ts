/** In a cell a pipe would begin the next one. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

export const markdownTable = (headings: readonly string[], rows: readonly (readonly string[])[]): string => {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n');
};

export const GENERATED_BY = '<!-- Made by `pnpm gen`; change the source and run that. -->';
