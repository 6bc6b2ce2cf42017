import { ERROR_CODES } from '@adcap/contracts';
import { GENERATED_BY, markdownTable } from './markdown-table.ts';

export const errorsPage = (): string => {
  const rows = Object.entries(ERROR_CODES).map(([code, { status, retryable, title }]) => [
    `\`${code}\``,
    String(status),
    retryable ? 'yes' : 'no',
    title,
  ]);
  return `${GENERATED_BY}

# Errors

Every error is problem+json (RFC 9457) with one of these codes in \`code\`, a sentence about this case in \`detail\`, and the wrong
fields in \`errors\`. "Again" says whether the same call may work later.

${markdownTable(['code', 'status', 'again', 'title'], rows)}
`;
};
