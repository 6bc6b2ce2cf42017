export const gather = async <T>(all: AsyncIterable<T>): Promise<T[]> => {
  const gathered: T[] = [];
  for await (const one of all) gathered.push(one);
  return gathered;
};
