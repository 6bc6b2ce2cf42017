import { runStack } from './run-stack.ts';

/* pnpm stack: the whole suite on this machine, until Ctrl-C. */
await runStack(async () => 'stay');
