import { styleText } from 'node:util';

/** One candidate's decision as the table shows it. */
export type DecisionRow = {
  breakAt: string;
  candidate: string;
  decision: string;
  left: string;
  because: string;
  next: string;
  isAsDocumented: boolean;
};

const COLUMNS = [
  ['breakAt', 'break'],
  ['candidate', 'candidate'],
  ['decision', 'decision'],
  ['left', 'left'],
  ['because', 'binding rule'],
  ['next', 'next allowed'],
] as const;

/** The rows under their headings, each marked by whether it is what the documents say. */
export const decisionTable = (rows: readonly DecisionRow[]): string => {
  const widths = COLUMNS.map(([key, heading]) =>
    Math.max(heading.length, ...rows.map((row) => row[key].length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  const heading = styleText('dim', `    ${line(COLUMNS.map(([, name]) => name))}`);
  const body = rows.map((row) => {
    const mark = row.isAsDocumented ? styleText('green', '✓') : styleText('red', '✗');
    return `  ${mark} ${line(COLUMNS.map(([key]) => row[key]))}`;
  });
  return [heading, ...body].join('\n');
};
