import { writeFile } from 'node:fs/promises';
import { complain, say, stopSignal } from '@adcap/stack/processes';
import { openScene } from './open-scene.ts';
import { type Options, parseOptions, USAGE } from './parse-options.ts';
import { isInTime, printReport } from './print-report.ts';
import { REDIS_FAULTS } from './redis-faults.ts';
import { type FaultReport, runFault } from './run-fault.ts';

/*
 * pnpm faults:redis: ad selection under a constant load while its Redis fails in every way. Exit code 1 where an answer, a count or
 * the process itself was wrong; with --strict also where a time was missed.
 */

const optionsOrExit = (): Options => {
  try {
    return parseOptions(
      process.argv.slice(2),
      REDIS_FAULTS.map(({ name }) => name),
    );
  } catch (error) {
    complain(`${error instanceof Error ? error.message : String(error)}\nusage: ${USAGE}`);
    return process.exit(1);
  }
};

const runAll = async (
  { seconds, rate, only }: Options,
  signal: AbortSignal,
  onReport: (report: FaultReport) => void,
): Promise<void> => {
  await using scene = await openScene(signal);
  for (const fault of REDIS_FAULTS.filter(({ name }) => only.length === 0 || only.includes(name))) {
    say(`${fault.name}: ${seconds} s at ${rate} decisions a second`);
    // oxlint-disable-next-line no-await-in-loop -- one fault at a time
    onReport(await runFault(scene, fault, { seconds, rate, signal }));
  }
};

const options = optionsOrExit();
const signal = stopSignal();
const reports: FaultReport[] = [];
try {
  await runAll(options, signal, (report) => reports.push(report));
} catch (error) {
  if (!signal.aborted) complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
if (reports.length > 0) process.stdout.write(`\n${printReport(reports)}\n`);
if (options.jsonFile !== undefined)
  await writeFile(options.jsonFile, JSON.stringify({ options, reports }, null, 2));
const isWrong = (report: FaultReport): boolean =>
  report.wrong.length > 0 || (options.isStrict && !isInTime(report));
if (reports.some(isWrong)) process.exitCode = 1;
process.exit();
