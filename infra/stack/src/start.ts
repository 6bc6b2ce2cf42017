import { runStack } from './run-stack.ts';
import { runSampleDay } from './sample-day/run-sample-day.ts';
import { complain, say } from './say.ts';

/* pnpm start [--once]: the suite, the sample day and its decisions with their reasons; with --once it ends after them. */
const once = process.argv.includes('--once');
const unknown = process.argv.slice(2).find((argument) => argument !== '--once' && argument !== '--');
if (unknown !== undefined) {
  complain(`${unknown} is not an argument; the only one is --once`);
  process.exit(1);
}

await runStack(async (stack) => {
  const isAsDocumented = await runSampleDay(stack);
  if (!isAsDocumented) throw new Error('the sample day did not give the documented decisions');
  if (!once) say('it keeps running; Ctrl-C ends it');
  return once ? 'leave' : 'stay';
});
