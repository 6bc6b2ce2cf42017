import { type FieldError, isUnfilled } from '@adcap/contracts';

/** The router parses before any hook can answer, so what is wrong is kept beside the query instead of being thrown. */
const problemsByQuery = new WeakMap<object, readonly FieldError[]>();

const decodeStrictly = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/**
 * A macro that an ad server left unfilled (`%%IFA%%`, `%IFA%`) is broken percent-encoding too, and a view told with one
 * must still be answered (law 8): it stays as written. `%%` is never valid encoding, so no valid value changes.
 */
const decode = (raw: string): string | undefined => {
  if (!raw.includes('%') && !raw.includes('+')) return raw;
  const text = raw.replaceAll('+', ' ');
  return (
    decodeStrictly(text) ??
    decodeStrictly(text.replaceAll(/%%([^%]*)%%/g, '%25%25$1%25%25')) ??
    (isUnfilled(raw) ? raw : undefined)
  );
};

const field = (name: string): string => `querystring.${name}`;

/**
 * Parses a query string strictly: a name given twice, broken percent-encoding, NUL and `__proto__` are remembered as
 * problems (see `queryProblems`). A name without a value is left out: empty means missing.
 */
export const parseQuery = (text: string): Record<string, unknown> => {
  const query: Record<string, unknown> = Object.create(null);
  const seen = new Set<string>();
  const problems: FieldError[] = [];
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const rawName = at === -1 ? pair : pair.slice(0, at);
    const name = decode(rawName);
    const value = at === -1 ? '' : decode(pair.slice(at + 1));
    if (name === undefined || value === undefined) {
      problems.push({ field: field(rawName), message: 'has broken percent-encoding' });
    } else if (name === '__proto__' || name.includes('\0') || value.includes('\0')) {
      problems.push({ field: field(rawName), message: 'is not allowed' });
    } else if (seen.has(name)) {
      problems.push({ field: field(name), message: 'is given more than once' });
    } else {
      seen.add(name);
      if (value !== '') query[name] = value;
    }
  }
  if (problems.length > 0) problemsByQuery.set(query, problems);
  return query;
};

/** What `parseQuery` found wrong; empty for a sound query. */
export const queryProblems = (query: unknown): readonly FieldError[] =>
  typeof query === 'object' && query !== null ? (problemsByQuery.get(query) ?? []) : [];
