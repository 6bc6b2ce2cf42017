/** The four dimensions of an ad in the order of the ladder's rungs. */
export const DIMENSIONS = ['creative', 'campaign', 'brand', 'industry'] as const;
export type Dimension = (typeof DIMENSIONS)[number];
