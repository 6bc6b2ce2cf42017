/** Where a set was read from. */
export type RulesSource = 'bus' | 'redis' | 'file';
