import { copyOf, fillDefaults, resourceName, type Kind } from '../api/index.ts';
import { isFields } from './apply-patch.ts';

interface VersionSchema {
  readonly hasStatus: boolean;
  readonly schema: Record<string, unknown> | undefined;
}

/** Kinds of Kubernetes without a status subresource. */
const withoutStatus = new Set([
  'clusterrolebindings.rbac.authorization.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'configmaps',
  'controllerrevisions.apps',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'csistoragecapacities.storage.k8s.io',
  'deviceclasses.resource.k8s.io',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'events',
  'ingressclasses.networking.k8s.io',
  'ipaddresses.networking.k8s.io',
  'leases.coordination.k8s.io',
  'limitranges',
  'networkpolicies.networking.k8s.io',
  'podtemplates',
  'priorityclasses.scheduling.k8s.io',
  'resourceclaimtemplates.resource.k8s.io',
  'resourceslices.resource.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'runtimeclasses.node.k8s.io',
  'secrets',
  'serviceaccounts',
  'storageclasses.storage.k8s.io',
  'volumeattributesclasses.storage.k8s.io',
]);

/** What the definitions of custom resources say, by resource and version. */
export class ResourceSchemas {
  readonly #known = new Map<string, VersionSchema>();

  /** A kind that `defineResource` has made brings its definition. */
  define(kind: Kind): void {
    const crd: unknown = 'crd' in kind ? kind.crd : undefined;
    const spec = isFields(crd) && isFields(crd['spec']) ? crd['spec'] : {};
    const versions: readonly unknown[] = Array.isArray(spec['versions']) ? spec['versions'] : [];
    for (const version of versions.filter(isFields)) {
      const { name, schema, subresources } = version;
      this.#known.set(idOf({ ...kind, version: String(name) }), {
        hasStatus: isFields(subresources) && subresources['status'] !== undefined,
        schema: isFields(schema) && isFields(schema['openAPIV3Schema']) ? schema['openAPIV3Schema'] : undefined,
      });
    }
  }

  /** Whether the status has a path of its own. Kinds that nobody has defined here do. */
  hasStatus(kind: Kind): boolean {
    return this.#of(kind)?.hasStatus ?? !withoutStatus.has(resourceName(kind));
  }

  /** Whether the status of a new object is dropped, as that of a custom resource with a status subresource. */
  dropsStatus(kind: Kind): boolean {
    return this.#of(kind)?.hasStatus === true;
  }

  /** The object with the defaults of its schema. */
  complete<T extends object>(kind: Kind, object: T): T {
    const schema = this.#of(kind)?.schema;
    if (schema === undefined) return object;
    const completed = copyOf<T>(object);
    fillDefaults(completed, schema);
    return completed;
  }

  #of(kind: Kind): VersionSchema | undefined {
    if (!this.#known.has(idOf(kind))) this.define(kind);
    return this.#known.get(idOf(kind));
  }
}

function idOf(kind: Kind): string {
  return `${resourceName(kind)} ${kind.version}`;
}
