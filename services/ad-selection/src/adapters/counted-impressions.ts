import { type DeviceInspection, lackingInWindow, viewOfHistoryRecord } from '@adcap/redis-windows';
import type { Counted } from '../domain/device-report.ts';

/** Law 12, as decisions do it: what the window and the history hold together, each impression once, by time. */
export const countedImpressions = ({
  history,
  window,
}: Pick<DeviceInspection, 'history' | 'window'>): Counted[] => {
  const readable = new Map(history.map((record) => [record.fingerprint, record]));
  return [
    ...window.map((member) => ({
      ...member,
      creativeId: readable.get(member.fingerprint)?.creativeId ?? null,
    })),
    ...lackingInWindow(history, window).map((record) => ({
      ...viewOfHistoryRecord(record),
      creativeId: record.creativeId,
    })),
  ].toSorted((a, b) => a.at - b.at);
};
