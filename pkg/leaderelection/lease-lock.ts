import { Leases, objectKey, type Lease, type LeaseSpec } from '../api/index.ts';
import { isNotFound, type Client } from '../client/index.ts';
import type { ElectionRecord } from './decide.ts';

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The election record in a Lease. Keeps the lease as last read or written, so that a leader can renew without a read. The
 * server rejects a write if another candidate has written since.
 */
export class LeaseLock {
  readonly #client: Client;
  readonly #where: LeaseName;
  #lease: Lease | undefined;

  constructor(client: Client, where: LeaseName) {
    this.#client = client;
    this.#where = where;
  }

  /** The lease as last read or written. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Returns undefined if the lease does not exist. */
  async read(signal: AbortSignal): Promise<ElectionRecord | undefined> {
    try {
      this.#lease = await this.#client.get(Leases, objectKey(this.#where.namespace, this.#where.name), signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.#lease = undefined;
    }
    return this.#lease === undefined ? undefined : recordOf(this.#lease);
  }

  /** Creates the lease if the last read did not find it. */
  async write(record: ElectionRecord, signal: AbortSignal): Promise<void> {
    this.#lease =
      this.#lease === undefined
        ? await this.#client.create(Leases, { metadata: { ...this.#where }, spec: { ...record } }, signal)
        : await this.#client.update(Leases, withRecord(this.#lease, record), signal);
  }
}

export function recordOf({ spec = {} }: Lease): ElectionRecord {
  return {
    holderIdentity: spec.holderIdentity ?? '',
    leaseDurationSeconds: spec.leaseDurationSeconds ?? 0,
    acquireTime: spec.acquireTime ?? undefined,
    renewTime: spec.renewTime ?? undefined,
    leaseTransitions: spec.leaseTransitions ?? 0,
    ...(spec.preferredHolder && { preferredHolder: spec.preferredHolder }),
  };
}

/** Keeps the fields outside the record (`strategy`, `preferredHolder`, labels): they belong to other components. */
function withRecord(lease: Lease, record: ElectionRecord): Lease {
  const spec: LeaseSpec = { ...lease.spec, ...record };
  return { ...lease, spec };
}
