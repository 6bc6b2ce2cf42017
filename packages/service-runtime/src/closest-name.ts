/** How many letters must change to get from one name to the other (Levenshtein). */
const editDistance = (from: string, to: string): number => {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const removed = (previous[column] ?? 0) + 1;
      const added = (current[column - 1] ?? 0) + 1;
      current.push(Math.min(replaced, removed, added));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
};

/** A slip is a few letters; beyond a quarter of the name it is another name. */
const isSlip = (name: string, distance: number): boolean => distance <= Math.max(2, name.length / 4);

/** The known name that was most likely meant, if one is near enough. */
export const closestName = (name: string, known: readonly string[]): string | undefined => {
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (isSlip(name, distance) && (best === undefined || distance < best.distance))
      best = { candidate, distance };
  }
  return best?.candidate;
};
