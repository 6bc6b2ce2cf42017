import { z } from 'zod';
import type { ConfigSchema } from './load-config.ts';

/** One setting as the generated tables and env examples show it; `default` is written as in an env file. */
export type ConfigRow = {
  name: string;
  type: string;
  required: boolean;
  default: string | undefined;
  description: string;
};

const jsonSchema = (schema: z.core.$ZodType, io: 'input' | 'output') =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any' });

type JsonSchema = ReturnType<typeof jsonSchema>;

const typeName = (schema: JsonSchema): string => {
  if (schema.enum !== undefined) return schema.enum.map(String).join(' | ');
  const { minimum, maximum } = schema;
  // zod writes the safe integers as bounds where none was given.
  const from = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? '' : minimum;
  const to = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? '' : maximum;
  const range = from === '' && to === '' ? '' : ` ${from}..${to}`;
  return (schema.format ?? schema.type ?? 'string') + range;
};

const writeDefault = (value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const isCoercedBoolean = (schema: JsonSchema, accepts: (text: string) => unknown): boolean =>
  schema.type === 'boolean' && accepts('false') !== false;

const describeSetting = (name: string, schema: z.core.$ZodType): ConfigRow => {
  const input = jsonSchema(schema, 'input');
  const output = jsonSchema(schema, 'output');
  const description = output.description ?? input.description;
  if (description === undefined) throw new Error(`${name} has no description: add .describe('…')`);
  const shown = output.type === undefined && output.enum === undefined ? input : output;
  if (isCoercedBoolean(shown, (text) => z.safeParse(schema, text).data)) {
    throw new Error(`${name} would read "false" as true: use z.stringbool()`);
  }
  return {
    name,
    type: typeName(shown),
    required: !z.safeParse(schema, undefined).success,
    default: writeDefault(output.default ?? input.default),
    description,
  };
};

/**
 * The settings of a service as rows, for generated docs and env examples. Throws when a setting has no description or
 * cannot be said in an environment variable, so a test that calls it keeps both true.
 */
export const describeConfig = (schema: ConfigSchema): ConfigRow[] =>
  Object.entries(schema.shape).map(([name, setting]) => describeSetting(name, setting));
