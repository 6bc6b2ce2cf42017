import { parseArgs } from 'node:util';

export type Options = {
  /** How long each fault lasts. */
  seconds: number;
  /** Decisions a second. */
  rate: number;
  /** Names of faults; all where none are given. */
  only: readonly string[];
  jsonFile: string | undefined;
  /** Whether a missed time fails the run as well. */
  isStrict: boolean;
};

export const USAGE = 'pnpm faults:redis [--seconds N] [--rate N] [--only name,name] [--json FILE] [--strict]';

const whole = (name: string, text: string): number => {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new Error(`--${name} is a whole number from 1 on, not "${text}"`);
};

/** Throws a sentence that says what is wrong with the command line. */
export const parseOptions = (args: readonly string[], faults: readonly string[]): Options => {
  const { values } = parseArgs({
    args: args.filter((argument) => argument !== '--'),
    options: {
      seconds: { type: 'string', default: '120' },
      rate: { type: 'string', default: '500' },
      only: { type: 'string', default: '' },
      json: { type: 'string' },
      strict: { type: 'boolean', default: false },
    },
  });
  const only = values.only.split(',').filter((name) => name !== '');
  const unknown = only.find((name) => !faults.includes(name));
  if (unknown !== undefined)
    throw new Error(`there is no fault "${unknown}": there are ${faults.join(', ')}`);
  return {
    seconds: whole('seconds', values.seconds),
    rate: whole('rate', values.rate),
    only,
    jsonFile: values.json,
    isStrict: values.strict,
  };
};
