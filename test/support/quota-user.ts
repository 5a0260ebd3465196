import {
  ConfigMaps,
  CustomResourceDefinitions,
  defineKind,
  objectKey,
  PersistentVolumeClaims,
  Pods,
  ResourceQuotas,
  Services,
  type CustomResourceDefinition,
  type Kind,
  type KubeObject,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
  type ResourceQuota,
  type Service,
  type Unsaved,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import { isAlreadyExists, isNotFound, type Client } from '../../pkg/client/index.ts';
import { isEqualUsage, usageOf } from '../../pkg/quota/index.ts';
import { eventually } from './eventually.ts';
import { NamespaceUser } from './namespace-user.ts';

type QuotaSpec = NonNullable<ResourceQuota['spec']>;
type Amounts = Record<string, string>;

/** A custom resource that quotas count. */
export const Widgets = defineKind<UntypedObject>({
  group: 'quota.example.com',
  version: 'v1',
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
});

/** Acts like a user of ResourceQuotas and of what they limit, in one namespace. */
export class QuotaUser extends NamespaceUser {
  /** Creates a quota, and waits until it has a status: before that, the server does not apply it. */
  async quota(name: string, hard: Amounts, more: Omit<QuotaSpec, 'hard'> = {}): Promise<void> {
    await this.create(ResourceQuotas, { metadata: { name }, spec: { hard, ...more } });
    await eventually(async () => (await this.read(name)).status?.hard !== undefined, this.signal);
  }

  read(name: string): Promise<ResourceQuota> {
    return this.client.get(ResourceQuotas, objectKey(this.namespace, name), this.signal);
  }

  /** Waits until the quota has exactly this usage, in any notation. */
  async untilUsed(name: string, used: Amounts): Promise<void> {
    await eventually(async () => {
      const { status } = await this.read(name);
      if (isEqualUsage(usageOf(status?.used), usageOf(used))) return true;
      throw new Error(`quota ${name} has used ${JSON.stringify(status?.used)}, not ${JSON.stringify(used)}`);
    }, this.signal);
  }

  create<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>): Promise<T> {
    const metadata = { ...object.metadata, namespace: this.namespace };
    return this.client.create(kind, { ...object, metadata }, this.signal);
  }

  /** Creates an object as soon as the server knows the usage of all quotas that limit it. */
  admit<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>): Promise<T> {
    return eventually(() => this.create(kind, object), this.signal);
  }

  pod(name: string, more: Partial<PodSpec> = {}, requests?: Amounts, limits?: Amounts): Promise<Pod> {
    const resources = { ...(requests && { requests }), ...(limits && { limits }) };
    const containers = [{ name: 'main', image: 'example', resources }];
    return this.admit(Pods, { metadata: { name }, spec: { containers, ...more } });
  }

  service(name: string, spec: Partial<Service['spec']>): Promise<Service> {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ];
    return this.admit(Services, { metadata: { name }, spec: { selector: { app: name }, ports, ...spec } });
  }

  claim(
    name: string,
    storage: string,
    more: Partial<PersistentVolumeClaim['spec']> = {},
  ): Promise<PersistentVolumeClaim> {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...more };
    return this.admit(PersistentVolumeClaims, { metadata: { name }, spec });
  }

  configMap(name: string): Promise<KubeObject> {
    return this.admit(ConfigMaps, { metadata: { name } });
  }

  patch<T extends KubeObject>(kind: Kind<T>, name: string, body: object, subresource?: string): Promise<T> {
    const patch = { type: 'merge', body, ...(subresource !== undefined && { subresource }) } as const;
    return this.client.patch(kind, objectKey(this.namespace, name), patch, this.signal);
  }

  async remove(kind: Kind, name: string): Promise<void> {
    try {
      // No controller runs that takes the finalizers of unused claims.
      if (kind === PersistentVolumeClaims) await this.patch(kind, name, { metadata: { finalizers: null } });
      await this.client.delete(kind, objectKey(this.namespace, name), { gracePeriodSeconds: 0 }, this.signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** Defines the custom resource, and waits until it is served. */
export async function defineWidgets(client: Client, signal: AbortSignal): Promise<void> {
  const { group, kind, resource } = Widgets;
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
  const spec = { group, scope: 'Namespaced', names: { kind, plural: resource }, versions: [version] };
  const definition = { metadata: { name: `${resource}.${group}` }, spec } as unknown as CustomResourceDefinition;
  await client.create(CustomResourceDefinitions, definition, signal).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  await eventually(() => client.list(Widgets, {}, signal), signal);
}
