/** One decision of the load: how it went and what it claimed. Instants are epoch ms with fractions. */
export type Answered = {
  deviceId: string;
  breakAt: number;
  /** When the schedule wanted it sent, when it was, and when the whole answer was there. */
  dueAt: number;
  sentAt: number;
  doneAt: number;
  /** 0: there was no answer. */
  status: number;
  source: string;
  isDegraded: boolean;
  reason: string;
  isReserved: boolean;
  /** Whether the forbidden ad was allowed or placed. */
  isBlockBroken: boolean;
  reservationIds: string[];
  problem: string;
};

/** Answered from the store as if nothing were wrong. */
export const isExact = (one: Answered): boolean =>
  one.status === 200 && one.source === 'quotas' && !one.isDegraded && one.isReserved;
