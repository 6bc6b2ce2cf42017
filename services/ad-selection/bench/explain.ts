import { decisionOf, microseconds, say } from './decisions.ts';

/*
 * What `explain: true` costs. Decides without Redis and HTTP, then writes the answer as JSON, with and without; an
 * operator is also told when what counted was watched.
 */

const KINDS = ['nothing', 'rules', 'impressions'] as const;

for (const candidates of [20, 100]) {
  const works = KINDS.map((explain) => {
    const decide = decisionOf(candidates, explain);
    const { answer } = decide();
    return { explain, decide, write: () => JSON.stringify(answer), bytes: JSON.stringify(answer).length };
  });
  const times = microseconds(...works.flatMap(({ decide, write }) => [decide, write]));
  const totalOf = (kind: number): number => (times[kind * 2] ?? NaN) + (times[kind * 2 + 1] ?? NaN);
  for (const [kind, { explain, bytes }] of works.entries()) {
    const [decided = NaN, written = NaN] = times.slice(kind * 2);
    const ratio = (totalOf(kind) / totalOf(0)).toFixed(2);
    say(
      `${candidates} candidates, explain ${explain}: ${decided.toFixed(0)} µs to decide, ${written.toFixed(0)} µs as JSON, ${bytes} bytes, ×${ratio}`,
    );
  }
}
