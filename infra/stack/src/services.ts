import { assertPortFree, freePort } from '@adcap/local-servers';

/** A service of the suite: its folder and the variable that sets its port. */
export type ServiceSpec = { name: string; portVariable: string; port: number };

export const SERVICES: readonly ServiceSpec[] = [
  { name: 'rules', portVariable: 'ADCAP_RULES_PORT', port: 8083 },
  { name: 'history', portVariable: 'ADCAP_HISTORY_PORT', port: 8084 },
  { name: 'quota', portVariable: 'ADCAP_QUOTA_PORT', port: 8085 },
  { name: 'cleanup', portVariable: 'ADCAP_CLEANUP_PORT', port: 8086 },
  { name: 'ad-selection', portVariable: 'ADCAP_AD_SELECTION_PORT', port: 8082 },
  { name: 'beacon', portVariable: 'ADCAP_BEACON_PORT', port: 8081 },
];

const HIGHEST_PORT = 65_535;

const portOf = ({ portVariable, port }: ServiceSpec, env: NodeJS.ProcessEnv): number => {
  const text = env[portVariable]?.trim() ?? '';
  if (text === '') return port;
  if (/^\d+$/.test(text) && Number(text) <= HIGHEST_PORT) return Number(text);
  throw new Error(`${portVariable} is no port: set it to a number from 0 (any free one) to ${HIGHEST_PORT}`);
};

/** The system gives the same port again when it has been let go. */
const freePortBeside = async (taken: ReadonlyMap<number, string>): Promise<number> => {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- asked for at once, two may be the same
    const port = await freePort();
    if (!taken.has(port)) return port;
  }
};

/**
 * The environment with a port for every service, each free and none for two: 0 is replaced by a free one. Throws an error that says what
 * to change.
 */
export const withPorts = async (env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> => {
  const taken = new Map<number, string>();
  for (const spec of SERVICES) {
    // oxlint-disable-next-line no-await-in-loop -- each must know those before it
    const port = portOf(spec, env) || (await freePortBeside(taken));
    const other = taken.get(port);
    if (other !== undefined)
      throw new Error(`${other} and ${spec.portVariable} are both ${port}: set another for one of them`);
    // oxlint-disable-next-line no-await-in-loop -- the first taken port is the one to name
    await assertPortFree(port, `${spec.name} with ${spec.portVariable}`);
    taken.set(port, spec.portVariable);
  }
  return { ...env, ...Object.fromEntries([...taken].map(([port, variable]) => [variable, String(port)])) };
};

export const urlOf = (name: string, env: NodeJS.ProcessEnv): string => {
  const spec = SERVICES.find((service) => service.name === name);
  if (spec === undefined) throw new Error(`there is no service ${name}`);
  return `http://127.0.0.1:${portOf(spec, env)}`;
};
