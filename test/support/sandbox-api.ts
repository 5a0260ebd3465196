import { objectKey, type UntypedObject } from '../../pkg/api/index.ts';
import { Failure } from '../../pkg/sandbox/failure.ts';
import { Registry, storageId, type Resource } from '../../pkg/sandbox/registry/index.ts';
import { Api } from '../../pkg/sandbox/rest/api.ts';
import { createObject } from '../../pkg/sandbox/rest/create.ts';
import { decode } from '../../pkg/sandbox/rest/decode.ts';
import { replaceObject, type UpdateTarget } from '../../pkg/sandbox/rest/update.ts';
import { Store } from '../../pkg/sandbox/storage/index.ts';
import { FakeClock } from './fake-clock.ts';

export const namespace = 'default';

interface SandboxApiOptions {
  /** The store of another sandbox, as after a restart. Default: a new one. */
  readonly store?: Store;
  /** The gates that are on. */
  readonly featureGates?: readonly string[];
}

/** The verbs of the sandbox without a server, for tests of its rules. Resources go by names like `deployments.apps`. */
export class SandboxApi {
  readonly clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly store: Store;
  readonly registry = new Registry();
  readonly api: Api;

  constructor({ store, featureGates }: SandboxApiOptions = {}) {
    const { registry, clock } = this;
    this.store = store ?? new Store({ historyLength: 100 });
    this.api = new Api({ store: this.store, registry, clock, random: () => 0.5, featureGates });
    if (store !== undefined) return;
    this.create('namespaces', { metadata: { name: namespace } });
    this.create('serviceaccounts', { metadata: { name: 'default' } });
  }

  resource(name: string): Resource {
    const found = this.registry.all().find((each) => storageId(each) === name);
    if (found === undefined) throw new Error(`the sandbox has no resource ${name}`);
    return found;
  }

  create(name: string, body: object): UntypedObject {
    const resource = this.resource(name);
    const target = { resource, namespace: resource.namespaced ? namespace : undefined };
    return createObject(this.api, target, decode(body, resource, 'Strict').object, { dryRun: false }).object;
  }

  update(name: string, object: UntypedObject, target: UpdateTarget = 'object'): UntypedObject {
    const resource = this.resource(name);
    const key = objectKey(resource.namespaced ? namespace : undefined, object.metadata.name);
    const { object: decoded } = decode(object, resource, 'Strict');
    return replaceObject(this.api, { resource, key }, decoded, { dryRun: false, target }).object;
  }
}

/** The errors with which validation refuses a request, as `field: message`. Empty when the request succeeds. */
export function refusalOf(request: () => unknown): string[] {
  try {
    request();
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const causes = error.details?.causes ?? [];
    return causes.length === 0 ? [error.message] : causes.map(({ field, message }) => `${field}: ${message}`);
  }
}
