/** Branded values: a bare string or number never stands in for one of these by accident. */
declare const brand: unique symbol;
type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };

/** An absolute instant, milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = Branded<number, 'EpochMs'>;
/** What the platform calls this viewer: Kafka key and source of the Redis hash tag. */
export type DeviceId = Branded<string, 'DeviceId'>;
/** The identity of one impression: 8 bytes as 11 base64url characters. */
export type Fingerprint = Branded<string, 'Fingerprint'>;
/** A dimension's value as a 48-bit number, the form in which windows are counted. 0 stands for "has none". */
export type ValueKey = Branded<number, 'ValueKey'>;

export const epochMs = (value: number): EpochMs => value as EpochMs;
export const deviceId = (value: string): DeviceId => value as DeviceId;
export const fingerprint = (value: string): Fingerprint => value as Fingerprint;
export const valueKey = (value: number): ValueKey => value as ValueKey;
export const NO_VALUE: ValueKey = valueKey(0);
