/** The work's result, or a retryable error once the limit has passed; work that goes on by then is left alone. */
export const bounded = async <Result>(
  work: Promise<Result>,
  limitMs: number,
  whatIsLate: string,
): Promise<Result> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(Object.assign(new Error(whatIsLate), { code: 'ETIMEDOUT' })),
    limitMs,
  );
  // The loser of the race may still reject.
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
