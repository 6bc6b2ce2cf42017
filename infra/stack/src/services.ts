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

export const portOf = (spec: ServiceSpec, env: NodeJS.ProcessEnv): number =>
  Number(env[spec.portVariable] ?? spec.port);

export const urlOf = (name: string, env: NodeJS.ProcessEnv): string => {
  const spec = SERVICES.find((service) => service.name === name);
  if (spec === undefined) throw new Error(`there is no service ${name}`);
  return `http://127.0.0.1:${portOf(spec, env)}`;
};
