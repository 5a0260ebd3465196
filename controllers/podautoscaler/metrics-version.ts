import * as z from 'zod';

import type { Client } from '../../pkg/client/index.ts';
import type { Clock } from '../../pkg/time/index.ts';
import { MetricError } from './metric-reading.ts';

const group = 'custom.metrics.k8s.io';
const knownVersions: ReadonlySet<string> = new Set([`${group}/v1beta2`, `${group}/v1beta1`]);

const groupListSchema = z.object({
  groups: z
    .array(
      z.object({
        name: z.string(),
        versions: z.array(z.object({ groupVersion: z.string() })).nullish(),
        preferredVersion: z.object({ groupVersion: z.string() }).nullish(),
      }),
    )
    .nullish(),
});

/** The version of the custom metrics API that the server prefers, or else the first one that is known here. */
export function chooseVersion(groupList: unknown): string {
  const groups = groupListSchema.parse(groupList).groups ?? [];
  const found = groups.find(({ name }) => name === group);
  if (found === undefined) throw new MetricError(`no custom metrics API (${group}) registered`);
  const versions = [found.preferredVersion, ...(found.versions ?? [])].map((each) => each?.groupVersion ?? '');
  const chosen = versions.find((version) => knownVersions.has(version));
  if (chosen === undefined) throw new MetricError('no known available metric versions found');
  return chosen;
}

/** Asks the server for the version, once in a period for all autoscalers. */
export class CustomMetricsVersion {
  readonly #client: Pick<Client, 'request'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #periodMs: number;
  #known: { readonly version: Promise<string>; readonly atMs: number } | undefined;

  constructor(
    client: Pick<Client, 'request'>,
    { clock, periodMs }: { readonly clock: Pick<Clock, 'monotonic'>; readonly periodMs: number },
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  get(signal: AbortSignal): Promise<string> {
    const nowMs = this.#clock.monotonic();
    if (this.#known === undefined || nowMs - this.#known.atMs >= this.#periodMs) {
      this.#known = { version: this.#ask(signal), atMs: nowMs };
    }
    return this.#known.version;
  }

  async #ask(signal: AbortSignal): Promise<string> {
    const headers = { Accept: 'application/json' };
    return chooseVersion(await this.#client.request({ method: 'GET', path: '/apis', headers }, signal));
  }
}
