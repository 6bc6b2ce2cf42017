/** What a check found; `detail` is for the operator who reads the body. */
export type CheckResult = { ok: boolean; detail?: string };
export type HealthCheck = () => CheckResult | Promise<CheckResult>;

/**
 * - `liveness`: a problem that only a restart mends; turns /livez to 503.
 * - `required`: without it this process can answer nothing; turns /readyz to 503.
 * - `informative`: answers go on without it (law 11); only its cause shows in the body of /readyz.
 */
export type CheckKind = 'liveness' | 'required' | 'informative';

export type HealthReport = {
  ok: boolean;
  body: { status: string; checks: Record<string, CheckResult> };
};

/** Named checks and the state of the process, as /livez and /readyz tell them. */
export type Health = {
  register(kind: CheckKind, name: string, check: HealthCheck): void;
  markReady(): void;
  /** Final: a draining process does not become ready again. */
  markDraining(): void;
  livez(): Promise<HealthReport>;
  readyz(): Promise<HealthReport>;
};

/** Shorter than any prober's patience: a check that hangs must not make the answer hang. */
const CHECK_DEADLINE_MS = 1_000;

const runCheck = async (check: HealthCheck): Promise<CheckResult> => {
  const late = Promise.withResolvers<CheckResult>();
  const timer = setTimeout(
    () => late.resolve({ ok: false, detail: `no answer within ${CHECK_DEADLINE_MS} ms` }),
    CHECK_DEADLINE_MS,
  );
  try {
    return await Promise.race([check(), late.promise]);
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
};

/** The health of one process: starting until it is marked ready, draining once it stops. */
export const createHealth = (): Health => {
  let state: 'starting' | 'ready' | 'draining' = 'starting';
  const registered = new Map<string, { kind: CheckKind; check: HealthCheck }>();

  const runChecks = async (kinds: readonly CheckKind[]) => {
    const chosen = [...registered].filter(([, { kind }]) => kinds.includes(kind));
    const results = await Promise.all(chosen.map(async ([, { check }]) => runCheck(check)));
    const found = chosen.map(([name, { kind }], index) => ({
      name,
      kind,
      result: results[index] ?? { ok: false },
    }));
    const checks = Object.fromEntries(found.map(({ name, result }) => [name, result]));
    return {
      checks,
      failed: (kind: CheckKind) => found.some((entry) => entry.kind === kind && !entry.result.ok),
    };
  };

  return {
    register: (kind, name, check) => {
      if (registered.has(name)) throw new Error(`a health check named ${name} is already registered`);
      registered.set(name, { kind, check });
    },
    markReady: () => {
      if (state === 'starting') state = 'ready';
    },
    markDraining: () => {
      state = 'draining';
    },
    livez: async () => {
      const { checks, failed } = await runChecks(['liveness']);
      const ok = !failed('liveness');
      return { ok, body: { status: ok ? 'alive' : 'stuck', checks } };
    },
    readyz: async () => {
      const { checks, failed } = await runChecks(['required', 'informative']);
      const status = state === 'ready' && failed('required') ? 'unready' : state;
      return { ok: status === 'ready', body: { status, checks } };
    },
  };
};
