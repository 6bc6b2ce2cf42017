/** The ad that a rule forbids; it is always offered first. */
export const BLOCKED_CREATIVE = 'forbidden';
const CREATIVES = 9;
const SLOTS = 2;

/** Caps that a run never fills, over dimensions that a decision has to count; and the one rule that holds throughout. */
export const RULES_YAML = `rules:
  - { id: creative-daily, dimension: creative, limit: { max: 150, window: 24h } }
  - { id: brand-daily, dimension: brand, limit: { max: 180, window: 24h } }
  - { id: industry-daily, dimension: industry, limit: { max: 190, window: 24h } }
  - { id: never, dimension: creative, value: ${BLOCKED_CREATIVE}, limit: BLOCK }
`;

const candidate = (creative: number) => ({
  creativeId: `c${creative}`,
  campaignId: `p${creative % 5}`,
  brandId: `b${creative % 3}.example`,
  industryIds: [`i${creative % 4}`],
});

/** Ten candidates whose order differs from break to break. */
const candidatesFor = (index: number) => [
  { creativeId: BLOCKED_CREATIVE, brandId: 'b0.example' },
  ...Array.from({ length: CREATIVES }, (_, place) => candidate((index + place) % CREATIVES)),
];

/** What is watched before: creative → how often. Every device has seen the same. */
export const WATCHED: ReadonlyMap<string, number> = new Map([
  ['c0', 2],
  ['c1', 1],
]);

/** The body of the index-th decision of a run. */
export const askFor = (index: number, of: { deviceId: string; breakId: string; breakAt: number }) => ({
  ...of,
  slots: SLOTS,
  candidates: candidatesFor(index),
});
