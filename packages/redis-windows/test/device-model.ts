import { type ImpressionEvent, SAME_MOMENT_MS } from '@adcap/contracts';
import { breakKeyOf, valueKeyOf } from '@adcap/identity';
import type { Reservation } from '@adcap/rule-engine';

const HOUR_MS = 3_600_000;

/** What the scripts do to one device, said as plainly as possible. */
export class DeviceModel {
  impressions: ImpressionEvent[] = [];
  /** Fingerprint → when it was watched: kept to the end of the hour after which nothing of it is needed. */
  guards = new Map<string, number>();
  reservations: Reservation[] = [];
  version = 0;
  isErased = false;

  apply(event: ImpressionEvent, now: number): 'new' | 'repeat' | 'erased' {
    if (this.isErased && event.receivedAt <= now) return 'erased';
    this.convert(event);
    const isSame = (other: ImpressionEvent): boolean =>
      event.identity === 'moment' &&
      other.creativeId === event.creativeId &&
      Math.abs(other.at - event.at) < SAME_MOMENT_MS;
    if (this.guards.has(event.fingerprint) || this.impressions.some(isSame)) return 'repeat';
    this.guards.set(event.fingerprint, event.at);
    this.impressions.push(event);
    return 'new';
  }

  convert(event: ImpressionEvent): void {
    const isPlace = (reservation: Reservation): boolean =>
      event.breakId !== undefined &&
      reservation.breakKey === breakKeyOf(event.sessionId, event.breakId) &&
      reservation.slot === event.slot &&
      reservation.creative === valueKeyOf(event.creativeId);
    const byExpiry = this.reservations.toSorted((a, b) => a.expiresAt - b.expiresAt);
    const answered = byExpiry.find(({ id }) => id === event.fingerprint) ?? byExpiry.find(isPlace);
    if (answered === undefined) return;
    this.reservations = this.reservations.filter(({ id }) => id !== answered.id);
    this.version += 1;
  }

  trim(cutoff: number): void {
    this.impressions = this.impressions.filter(({ at }) => at >= cutoff);
    for (const [print, at] of this.guards)
      if (Math.floor(at / HOUR_MS) < Math.floor(cutoff / HOUR_MS)) this.guards.delete(print);
  }

  commit(expectedVersion: number, add: readonly Reservation[]): 'committed' | 'conflict' {
    if (expectedVersion !== this.version) return 'conflict';
    this.reservations.push(...add);
    this.version += 1;
    return 'committed';
  }

  release(breakKey: string, hadPod: boolean): void {
    const kept = this.reservations.filter((reservation) => reservation.breakKey !== breakKey);
    if (kept.length < this.reservations.length || hadPod) this.version += 1;
    this.reservations = kept;
  }

  erase(): void {
    this.impressions = [];
    this.guards.clear();
    this.reservations = [];
    this.isErased = true;
    this.version += 1;
  }
}
