import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';

const headSchema = z.object({
  version: z.number().int(),
  author: z.string().optional(),
  note: z.string().optional(),
  publishedAt: z.number().int(),
  rules: z.array(z.unknown()).transform((rules) => rules.length),
});

/** A version without its rules. */
export type VersionHead = {
  version: number;
  author?: string | undefined;
  note?: string | undefined;
  publishedAt: number;
  ruleCount: number;
};

type Kept = { digest: string; head: VersionHead; packed: Buffer };

/** As many as the topic keeps. */
const MAX_VERSIONS = 100;
/** Packed: a set of 5,000 rules takes some 50 kB. */
const MAX_BYTES = 64 * 1_048_576;
/** The quickest: most of a rule is the same in every rule. */
const LEVEL = { level: 1 };

const headOf = (version: number, json: string): VersionHead | undefined => {
  try {
    const head = headSchema.parse(JSON.parse(json));
    const { rules: ruleCount, ...rest } = head;
    return head.version === version ? { ...rest, ruleCount } : undefined;
  } catch {
    return undefined;
  }
};

/** The versions of the rules that the topic holds, as packed text; what is in one is looked at when somebody asks. */
export class VersionArchive {
  readonly #kept = new Map<number, Kept>();
  readonly #maxBytes: number;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Of two texts under one number the later one is what every service has. One that is no version is passed over. */
  note(version: number, json: string): void {
    const digest = createHash('sha256').update(json).digest('base64');
    // A change is noted when it is published, and comes back twice.
    if (this.#kept.get(version)?.digest === digest) return;
    const head = headOf(version, json);
    if (head === undefined) return;
    this.#kept.set(version, { digest, head, packed: deflateRawSync(json, LEVEL) });
    this.#forgetOldest();
  }

  forget(version: number): void {
    this.#kept.delete(version);
  }

  /** Newest first. */
  heads(): VersionHead[] {
    return this.#newestFirst().map(({ head }) => head);
  }

  json(version: number): string | undefined {
    const packed = this.#kept.get(version)?.packed;
    return packed === undefined ? undefined : inflateRawSync(packed).toString('utf8');
  }

  #newestFirst(): Kept[] {
    return [...this.#kept.values()].toSorted((one, other) => other.head.version - one.head.version);
  }

  #forgetOldest(): void {
    let bytes = 0;
    for (const [index, { head, packed }] of this.#newestFirst().entries()) {
      bytes += packed.length;
      if (index >= MAX_VERSIONS || bytes > this.#maxBytes) this.#kept.delete(head.version);
    }
  }
}
