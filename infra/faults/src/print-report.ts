import type { FaultReport } from './run-fault.ts';

/** Law 11: the configured deadline and 2 ms. */
const TARGET_P99_MS = 12;

const HEAD = [
  'fault',
  'decisions',
  'open',
  'p50 ms',
  'p99 ms',
  'target',
  'max ms',
  'before ms',
  'late ms',
  'RSS MiB',
  'back in ms',
  'phantoms',
  'verdict',
];
const MIB = 1_048_576;

export const isInTime = ({ times }: Pick<FaultReport, 'times'>): boolean => times.p99Ms <= TARGET_P99_MS;

const cells = (report: FaultReport): string[] => {
  const { name, decisions, openShare, times, healthy, lateness, memory, recoveredMs, difference } = report;
  return [
    name,
    String(decisions),
    `${(openShare * 100).toFixed(1)} %`,
    times.p50Ms.toFixed(1),
    times.p99Ms.toFixed(1),
    isInTime(report) ? 'met' : 'missed',
    times.maxMs.toFixed(1),
    healthy.p99Ms.toFixed(1),
    lateness.p99Ms.toFixed(1),
    `${Math.round(memory.rssStartBytes / MIB)} → ${Math.round(memory.rssEndBytes / MIB)}`,
    recoveredMs === undefined ? 'never' : String(Math.round(recoveredMs)),
    String(difference.phantoms.length),
    report.wrong.length === 0 ? 'right' : 'WRONG',
  ];
};

/** A row a fault, then what was wrong. */
export const printReport = (reports: readonly FaultReport[]): string => {
  const rows = [HEAD, ...reports.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const still = reports
    .filter(({ standstillMs }) => standstillMs > 0)
    .map(
      ({ name, standstillMs }) =>
        `${name}: the machine stood still for ${Math.round(standstillMs)} ms in all, which is in no time above`,
    );
  const complaints = reports.flatMap(({ name, wrong }) => wrong.map((what) => `${name}: ${what}`));
  const legend = [
    `target: p99 at most ${TARGET_P99_MS} ms, the deadline of 10 ms and 2; reported, and asserted with --strict alone`,
    'before: p99 of the healthy seconds before the fault; late: p99 of how late the generator itself was',
  ];
  return [...table, '', ...legend, ...still, ...complaints].join('\n');
};
