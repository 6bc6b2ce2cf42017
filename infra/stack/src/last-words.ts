import { readFileSync } from 'node:fs';

type LogLine = { level?: string; msg?: string; err?: { message?: string } };

const parse = (line: string): LogLine | undefined => {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
};

/** Why a process says that it ended: its last fatal record, else its last line. */
export const lastWords = (logFile: string): string => {
  let text: string;
  try {
    text = readFileSync(logFile, 'utf8');
  } catch {
    return 'it left no log';
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const fatal = lines.map(parse).findLast((line) => line?.level === 'fatal');
  return fatal?.err?.message ?? fatal?.msg ?? lines.at(-1) ?? 'it logged nothing';
};
