export * from './break-key.ts';
export * from './device-tag.ts';
export * from './impression-identity.ts';
export type { ReservationClaims } from './reservation-claims.ts';
export * from './reservation-tokens.ts';
export * from './value-key.ts';
