const SENTINELS: ReadonlySet<string> = new Set(['', '-1', '-2', 'null', 'undefined', 'none', 'nan', 'n/a']);

const MACRO_DRESSINGS: readonly RegExp[] = [
  /^\[[^[\]]*\]$/, // [IFA]
  /^%%[^%]*%%$/, // %%IFA%%
  /^%[A-Z_]+%$/i, // %IFA%
  /^\$?\{+[^{}]*\}+$/, // ${IFA}, {IFA}, {{ifa}}
  /^\$\$[^$]*\$\$$/, // $$IFA$$
  /^\$?\([^()]*\)$/, // $(IFA)
  /^<[^<>]*>$/, // <IFA>
  /^#\{?[A-Z_]+\}?#?$/i, // #{IFA}, #IFA#
  /^__[A-Z_]+__$/i, // __IFA__
];

const ONLY_ZEROS = /^0[0-]*$/;

/** Two rounds undo `%255BIFA%255D`; a third shows that nothing is left to undo. */
const DECODE_ROUNDS = 3;

const decodeOnce = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};

const looksUnfilled = (value: string): boolean => {
  const trimmed = value.trim();
  return (
    SENTINELS.has(trimmed.toLowerCase()) ||
    ONLY_ZEROS.test(trimmed) ||
    MACRO_DRESSINGS.some((dressing) => dressing.test(trimmed))
  );
};

/**
 * Law 8: whether a value names nobody: empty, a sentinel, only zeros, `[object …]`, or a macro that no one filled, in
 * any dress and under up to two percent-encodings. Whoever shared such a value would share one counter.
 */
export const isUnfilled = (value: string): boolean => {
  let current = value;
  for (let round = 0; round < DECODE_ROUNDS; round += 1) {
    if (looksUnfilled(current)) return true;
    const decoded = decodeOnce(current);
    if (decoded === current) return false;
    current = decoded;
  }
  return looksUnfilled(current);
};
