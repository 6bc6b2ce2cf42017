const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Far enough back that all of the sample day's times are over, and its impressions well inside the retention. */
const NINE_WAS_MS_AGO = 2 * HOUR_MS;
const NINE_HOURS = 9;

/** The sample day's times, hung on now: its 09:00 was two hours ago, whatever the clock on the wall says. */
export type DayClock = { instantOf(time: string): number; timeOf(instant: number): string };

const two = (value: number): string => String(value).padStart(2, '0');

export const createDayClock = (nowMs: number): DayClock => {
  const midnight = nowMs - NINE_WAS_MS_AGO - NINE_HOURS * HOUR_MS;
  return {
    instantOf: (time) => {
      const [hours = 0, minutes = 0] = time.split(':').map(Number);
      return midnight + hours * HOUR_MS + minutes * MINUTE_MS;
    },
    timeOf: (instant) => {
      const minutes = Math.round((instant - midnight) / MINUTE_MS);
      return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
    },
  };
};
