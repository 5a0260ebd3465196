import * as z from 'zod';

import type { Client } from '../../pkg/client/index.ts';
import { abortReason, type Clock } from '../../pkg/time/index.ts';
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

/** A request that several autoscalers wait for. It ends with the last of them, not with the one that came first. */
interface Asking {
  readonly version: Promise<string>;
  readonly cancel: AbortController;
  waiting: number;
}

/** Asks the server for the version, once in a period for all autoscalers. A failure is not kept: the next one asks again. */
export class CustomMetricsVersion {
  readonly #client: Pick<Client, 'request'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #periodMs: number;
  #known: { readonly version: string; readonly atMs: number } | undefined;
  #asking: Asking | undefined;

  constructor(
    client: Pick<Client, 'request'>,
    { clock, periodMs }: { readonly clock: Pick<Clock, 'monotonic'>; readonly periodMs: number },
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  /** Rejects at once when `signal` aborts; those who wait for the same answer still get it. */
  async get(signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const known = this.#known;
    if (known !== undefined && this.#clock.monotonic() - known.atMs < this.#periodMs) return known.version;
    const asking = (this.#asking ??= this.#ask());
    asking.waiting += 1;
    try {
      return await unlessAborted(asking.version, signal);
    } finally {
      asking.waiting -= 1;
      if (asking.waiting === 0) await this.#end(asking);
    }
  }

  #ask(): Asking {
    const cancel = new AbortController();
    const version = this.#request(cancel.signal).finally(() => this.#forget(asking));
    const asking: Asking = { version, cancel, waiting: 0 };
    return asking;
  }

  #forget(asking: Asking): void {
    if (this.#asking === asking) this.#asking = undefined;
  }

  async #request(signal: AbortSignal): Promise<string> {
    const atMs = this.#clock.monotonic();
    const headers = { Accept: 'application/json' };
    const version = chooseVersion(await this.#client.request({ method: 'GET', path: '/apis', headers }, signal));
    this.#known = { version, atMs };
    return version;
  }

  /** Nobody waits any more. If that is because all were deleted, the request must not outlive the controller. */
  async #end(asking: Asking): Promise<void> {
    this.#forget(asking);
    asking.cancel.abort();
    await Promise.allSettled([asking.version]);
  }
}

async function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(abortReason(signal));
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([answer, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
