import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { GENERATED_BY, markdownTable } from './markdown-table.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../../docs/clients');

const REASONS = [
  ['`client_timeout`', 'no whole answer within the limit, connection and body included'],
  ['`client_unreachable`', 'no connection, or one that broke'],
  ['`client_status`', 'another status than 200'],
  ['`client_bad_answer`', 'a 200 whose body is no answer to this request'],
];

const listing = async (language: string, file: string): Promise<string> =>
  `\`\`\`${language}\n${(await readFile(path.join(FOLDER, file), 'utf8')).trimEnd()}\n\`\`\``;

/** The clients in other languages, as the files beside the page have them. */
export const clientsPage = async (): Promise<string> => `${GENERATED_BY}

# Clients

An ad pod service must never fail, or wait, because ad selection does. In TypeScript that is
[\`createSelectionClient\`](../packages/client-sdk/README.md). Here is the same in thirty lines of Go and of Java, to be copied: imports and
lone braces are not counted, and neither needs a dependency.

Whatever goes wrong, the break gets an answer of the service's shape: \`source: "open"\`, \`degraded: true\`, \`reserved: false\`, every candidate
allowed, the first ones placed in the caller's order, empty reservation ids, and in \`degradedReason\` why:

${markdownTable(['reason', 'what happened'], REASONS)}

- The rules are out of reach then, so a BLOCK is not kept. A caller that must keep one gives up the break when \`degraded\` is true.
- A reason without the prefix \`client_\` came from the service itself.
- Left out, against TypeScript: \`slots\` is a number, and the open pod looks at no durations (\`podDurationMs\`, \`maxMs\`); there is no
  \`clientError\` for the log, and no \`client_bad_request\`.

\`pnpm examples\` compiles both and compares their answers with those of the TypeScript client, before a real ad selection and before each way
in which it can be out of reach. The code is in [\`docs/clients\`](clients/), each with a small program that uses it.

## Go

Go 1.21 or newer. Give the client its \`Timeout\`: it is the limit of the whole call.

${await listing('go', 'go/selection.go')}

## Java

Java 17 or newer. Java has no reader of JSON, so text goes in and out, and a caller reads it with the library that it has. What comes back
is checked as far as text can be without one: an object from the first brace to the last, with \`source\`, \`degraded\`, \`pod\` and as many
verdicts as there were candidates. A body that is broken between those would pass; one that is cut off does not.

${await listing('java', 'java/Selection.java')}
`;
