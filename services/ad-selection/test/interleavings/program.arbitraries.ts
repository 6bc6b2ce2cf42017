import fc from 'fast-check';

const small = (max: number) => fc.integer({ min: 0, max });
const mostly = <T>(usual: T, ...rare: readonly T[]) => fc.constantFrom(usual, usual, usual, usual, ...rare);

const process = small(1);
const breakNumber = small(2);
/** Which of a break's instants: asked at another one it is moved. */
const instant = mostly(0, 1, 2);
/** Candidates by their place in the catalogue, in order of preference. */
const ads = fc.array(small(5), { minLength: 1, maxLength: 4 });

const anOperation = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('select' as const),
      process,
      break: breakNumber,
      instant,
      slots: fc.integer({ min: 0, max: 3 }),
      ads,
      reserve: mostly(true, false),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      process,
      break: breakNumber,
      instant,
      ads,
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('retry' as const), process, break: breakNumber }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('topUp' as const), process, break: breakNumber, ads }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('move' as const), process, break: breakNumber, instant }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), process, break: breakNumber }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('watch' as const),
      by: mostly('reservation' as const, 'place' as const, 'neither' as const),
      break: breakNumber,
      place: small(2),
      /** Which consumer is behind, and applies it in a later step. */
      behind: fc.constantFrom('nobody' as const, 'history' as const, 'window' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('changeRules' as const) }) },
);

export type Operation = typeof anOperation extends fc.Arbitrary<infer Value> ? Value : never;

/** What happens at one moment, or the wait until a short break is over. */
const aStep = fc.oneof(
  { weight: 14, arbitrary: fc.array(anOperation, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant('expire' as const) },
);

export type Step = typeof aStep extends fc.Arbitrary<infer Value> ? Value : never;

/** One life of a device. */
export const aProgram = fc.array(aStep, { minLength: 2, maxLength: 6 });
