/** Which methods exist for a path: tells a wrong method (405) from an unknown path (404). */
export type RouteTable = {
  add(route: { method: string | string[]; url: string }): void;
  methodsFor(path: string): string[];
};

const matches = (pattern: readonly string[], path: readonly string[]): boolean => {
  const hasTail = pattern.at(-1) === '*';
  if (hasTail ? path.length < pattern.length : path.length !== pattern.length) return false;
  return pattern.every((part, index) => {
    if (part === '*') return true;
    return part.startsWith(':') ? path[index] !== '' : path[index] === part;
  });
};

/** The table that a server fills as its routes are registered. Catch-alls (`*`, `/*`) name no resource and are left out. */
export const createRouteTable = (): RouteTable => {
  const routes: { methods: string[]; pattern: string[] }[] = [];
  return {
    add: ({ method, url }) => {
      if (url === '*' || url === '/*') return;
      routes.push({ methods: [method].flat(), pattern: url.split('/') });
    },
    methodsFor: (path) => {
      const parts = path.split('/');
      const matching = routes.filter(({ pattern }) => matches(pattern, parts));
      return [...new Set(matching.flatMap(({ methods }) => methods))].toSorted();
    },
  };
};
