/** The path of a set of checks. */
export type HealthPath = 'healthz' | 'livez' | 'readyz';

export interface HealthCheck {
  readonly name: string;
  /** Returns the reason of a failure, or undefined if healthy. Called on every probe, so it must be fast. */
  check(): string | undefined;
}

/** Called with the outcome of every check that a probe ran. */
export type HealthObserver = (outcome: {
  readonly name: string;
  readonly path: HealthPath;
  readonly healthy: boolean;
}) => void;

/** The checks of one path. Controllers add theirs when they are created, which is after the first probes. */
export class HealthChecks {
  readonly #checks = new Map<string, HealthCheck>();
  readonly #observe: HealthObserver;

  constructor(observe: HealthObserver = () => {}) {
    this.#observe = observe;
  }

  add(...checks: readonly HealthCheck[]): void {
    for (const check of checks) {
      if (this.#checks.has(check.name))
        throw new DuplicateHealthCheckError(`health check ${check.name} is already registered`);
      this.#checks.set(check.name, check);
    }
  }

  /** All of them, or a single `ping` that is always well while there are none. */
  list(): readonly HealthCheck[] {
    return this.#checks.size === 0 ? [ping] : [...this.#checks.values()];
  }

  get(name: string): HealthCheck | undefined {
    return this.list().find((check) => check.name === name);
  }

  run(path: HealthPath, excluded: readonly string[]): HealthReport {
    const results = this.list().map((check): CheckResult => {
      if (excluded.includes(check.name)) return { name: check.name, state: 'excluded' };
      const problem = check.check();
      this.#observe({ name: check.name, path, healthy: problem === undefined });
      if (problem === undefined) return { name: check.name, state: 'well' };
      return { name: check.name, state: 'unwell', problem };
    });
    return describeHealth(path, results, excluded);
  }
}

const ping: HealthCheck = { name: 'ping', check: () => undefined };

export type CheckResult =
  | { readonly name: string; readonly state: 'well' | 'excluded' }
  | { readonly name: string; readonly state: 'unwell'; readonly problem: string };

export interface HealthReport {
  readonly healthy: boolean;
  /** One line per check and a result, in the format of the Go binary, which programs parse. */
  readonly text: string;
  readonly failed: readonly { readonly name: string; readonly problem: string }[];
}

/**
 * Formats results. Reasons are omitted: anyone may read this page, and a reason may contain confidential names. The page
 * of a single check, which requires authorization, has the reason.
 */
export function describeHealth(
  path: HealthPath,
  results: readonly CheckResult[],
  excluded: readonly string[],
): HealthReport {
  const failed = results.filter((result) => result.state === 'unwell');
  const lines = results.map(({ name, state }) => {
    if (state === 'excluded') return `[+]${name} excluded: ok\n`;
    return state === 'well' ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
  });
  const names = new Set(results.map(({ name }) => name));
  const unknown = [...new Set(excluded)].filter((name) => !names.has(name)).sort();
  if (unknown.length > 0) {
    const quoted = unknown.map((name) => JSON.stringify(name)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${quoted}\n`);
  }
  const healthy = failed.length === 0;
  return { healthy, text: `${lines.join('')}${path} check ${healthy ? 'passed' : 'failed'}\n`, failed };
}

/** Two health checks have the same name. */
class DuplicateHealthCheckError extends Error {
  override readonly name = 'DuplicateHealthCheckError';
  readonly reason = 'DuplicateHealthCheck';
}
