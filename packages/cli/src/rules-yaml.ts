import type { Rule, RuleSetDraft } from '@adcap/contracts';
import { stringify } from 'yaml';

const instant = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

/** In the order in which people write a rule; what is not said is left out. */
const inOrder = ({ id, dimension, value, limit, final, when, mode, enabled, ...rest }: Rule): object =>
  Object.fromEntries(
    Object.entries({
      id,
      dimension,
      value,
      limit,
      final,
      when,
      mode,
      enabled,
      startsAt: instant(rest.startsAt),
      endsAt: instant(rest.endsAt),
      note: rest.note,
    }).filter(([, given]) => given !== undefined),
  );

/**
 * A rule set as a file that is read back as the same. Words that some YAML readers take for something else (OFF, a long number) are
 * quoted.
 *
 * @param schema where editors find the JSON Schema of the file
 */
export const rulesYaml = ({ dimensions, rules }: RuleSetDraft, schema: string): string => {
  const text = stringify(
    { dimensions, rules: rules.map(inOrder) },
    { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false },
  );
  return `# yaml-language-server: $schema=${schema}\n${text}`;
};
