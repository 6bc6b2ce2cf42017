/** How long impressions are kept: the retention that rules may look back, and a margin for clocks and late readers. */
export type Retention = { retentionMs: number; graceMs: number };

/**
 * What a device's `m` lives on after its last write. It remembers an erasure for longer than the impressions topic (48 h)
 * could replay what was erased, and outlives every reservation (36 h ahead).
 */
const META_TTL_MS = 72 * 3_600_000;

export const keepMs = ({ retentionMs, graceMs }: Retention): number => retentionMs + graceMs;

export const metaTtlMs = (retention: Retention): number => Math.max(META_TTL_MS, keepMs(retention));
