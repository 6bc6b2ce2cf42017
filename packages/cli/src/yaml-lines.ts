import type { RuleFinding } from '@adcap/contracts';
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

type Fault = { line: number; message: string };

/** A YAML file as data, with what is wrong with it as YAML and where each finding lies. */
type OpenedYaml = {
  value: unknown;
  faults: readonly Fault[];
  lineOf: (finding: Pick<RuleFinding, 'ruleId' | 'field'>) => number;
};

type Place = { node: unknown; offset: number | undefined };

const offsetOf = (node: unknown): number | undefined =>
  isNode(node) ? (node.range?.[0] ?? undefined) : undefined;

/** One step down: a key of a mapping (the key itself is the place), an item of a list. */
const step = ({ node, offset }: Place, key: string): Place | undefined => {
  if (isMap(node)) {
    const pair = node.items.find((item) => (isScalar(item.key) ? String(item.key.value) : '') === key);
    return pair === undefined ? undefined : { node: pair.value, offset: offsetOf(pair.key) ?? offset };
  }
  if (isSeq(node)) {
    const item: unknown = node.items[Number(key)];
    return item === undefined ? undefined : { node: item, offset: offsetOf(item) ?? offset };
  }
  return undefined;
};

type Found = Place & { isWhole: boolean };

/** As far down as the file goes: what is missing is reported where it would have to be. */
const descend = (from: Place, keys: readonly string[]): Found => {
  let place = from;
  for (const key of keys) {
    const next = step(place, key);
    if (next === undefined) return { ...place, isWhole: false };
    place = next;
  }
  return { ...place, isWhole: true };
};

const placesById = (rules: Place): Map<string, number[]> => {
  const places = new Map<string, number[]>();
  const items: readonly unknown[] = isSeq(rules.node) ? rules.node.items : [];
  for (const [index, item] of items.entries()) {
    const id = isMap(item) ? item.get('id') : undefined;
    if (typeof id === 'string') places.set(id, [index, ...(places.get(id) ?? [])]);
  }
  return places;
};

const UNNAMED = /^rules\.(\d+)$/;

const locator = (document: Document, lines: LineCounter) => {
  const contents: Node | null = document.contents;
  const root: Place = { node: contents, offset: offsetOf(contents) };
  const rules = descend(root, ['rules']);
  const places = placesById(rules);
  return ({ ruleId, field }: Pick<RuleFinding, 'ruleId' | 'field'>): number => {
    const keys = field.split('.').filter((key) => key !== '');
    const unnamed = UNNAMED.exec(ruleId)?.[1];
    const named = places.get(ruleId) ?? (unnamed === undefined ? [] : [Number(unnamed)]);
    // Of two rules with one id it is about the one that has the field, else about the later one.
    const candidates = named.map((index) => descend(rules, [String(index), ...keys]));
    const place = candidates.find(({ isWhole }) => isWhole) ?? candidates[0] ?? descend(root, keys);
    return lines.linePos(place.offset ?? 0).line || 1;
  };
};

const firstLine = (message: string): string => message.split('\n')[0]?.replace(/ at line \d+.*$/, '') ?? '';

/** Reads YAML so that every finding can be told with its line. */
export const openYaml = (text: string): OpenedYaml => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const faults = document.errors.map(({ message, pos }) => ({
    line: lines.linePos(pos[0]).line,
    message: `is not valid YAML: ${firstLine(message)}`,
  }));
  const lineOf = locator(document, lines);
  if (faults.length > 0) return { value: undefined, faults, lineOf };
  try {
    return { value: document.toJS(), faults, lineOf };
  } catch (cause) {
    // An alias that names nothing, or that repeats itself without end.
    const message = `is not valid YAML: ${cause instanceof Error ? cause.message : String(cause)}`;
    return { value: undefined, faults: [{ line: 1, message }], lineOf };
  }
};
