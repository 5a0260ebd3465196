import {
  objectKey,
  Pods,
  ResourceClaims,
  ResourceClaimTemplates,
  ResourcePoolStatusRequests,
  ResourceSlices,
  type AllocatedDevice,
  type DeviceTaint,
  type Pod,
  type PodResourceClaim,
  type PodSpec,
  type ResourceClaim,
  type ResourceClaimConsumer,
  type ResourceClaimSpec,
  type ResourcePoolStatusRequest,
} from '../../pkg/api/index.ts';
import { isNotFound } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';
import { NamespaceUser } from './namespace-user.ts';

export const claimFinalizer = 'resource.kubernetes.io/delete-protection';

const request = { exactly: { deviceClassName: 'example.com', allocationMode: 'ExactCount', count: 1 } };
export const claimSpec: ResourceClaimSpec = { devices: { requests: [{ name: 'device', ...request }] } };

/** With admin access, which a namespace must be labelled for. */
export const adminSpec: ResourceClaimSpec = {
  devices: { requests: [{ name: 'device', exactly: { ...request.exactly, adminAccess: true } }] },
};

type DeviceToleration = NonNullable<AllocatedDevice['tolerations']>[number];
type Entry = Omit<PodResourceClaim, 'name'>;

export const fromTemplate = (resourceClaimTemplateName: string): Entry => ({ resourceClaimTemplateName });
export const named = (resourceClaimName: string): Entry => ({ resourceClaimName });

export interface DevicePod {
  /** The claims of the pod, by their names in its spec. */
  readonly claims: Readonly<Record<string, Entry>>;
  /** Not set: no node. There is no kubelet. */
  readonly nodeName?: string;
  readonly finalizers?: string[];
  readonly spec?: Partial<PodSpec>;
}

/** Does with claims and pods what users, schedulers and kubelets do. */
export class ClaimUser extends NamespaceUser {
  async template(name: string, metadata: object = {}, spec: ResourceClaimSpec = claimSpec): Promise<void> {
    const { namespace } = this;
    await this.client.create(
      ResourceClaimTemplates,
      { metadata: { namespace, name }, spec: { metadata, spec } },
      this.signal,
    );
  }

  claim(name: string, metadata: object = {}): Promise<ResourceClaim> {
    const { namespace } = this;
    const object = { metadata: { namespace, name, ...metadata }, spec: claimSpec };
    return this.client.create(ResourceClaims, object, this.signal);
  }

  pod(name: string, { claims, nodeName, finalizers, spec }: DevicePod): Promise<Pod> {
    const { namespace } = this;
    const resourceClaims = Object.entries(claims).map(([entry, source]) => ({ name: entry, ...source }));
    const containers = [{ name: 'app', image: 'example' }];
    const whole = { containers, nodeName, resourceClaims, ...spec };
    return this.client.create(Pods, { metadata: { namespace, name, finalizers }, spec: whole }, this.signal);
  }

  /** Writes to the status of a pod, as a kubelet or a scheduler does. */
  async setPodStatus(name: string, status: object): Promise<void> {
    const patch = { type: 'merge', subresource: 'status', body: { status } } as const;
    await this.client.patch(Pods, objectKey(this.namespace, name), patch, this.signal);
  }

  /** The kubelet is done with the pod. */
  async deletePod(name: string): Promise<void> {
    await this.client.delete(Pods, objectKey(this.namespace, name), { gracePeriodSeconds: 0 }, this.signal);
  }

  async deleteClaim(name: string): Promise<void> {
    await this.client.delete(ResourceClaims, objectKey(this.namespace, name), {}, this.signal);
  }

  /** A scheduler allocates a claim: it protects it, then sets the device and the pods that may use it. */
  async allocate(
    claimName: string,
    consumers: readonly ResourceClaimConsumer[],
    device = 'gpu-0',
    tolerations?: readonly DeviceToleration[],
  ): Promise<void> {
    const key = objectKey(this.namespace, claimName);
    const body = { metadata: { finalizers: [claimFinalizer] } };
    await this.client.patch(ResourceClaims, key, { type: 'merge', body }, this.signal);
    const results = [{ request: 'device', driver: 'example.com', pool: this.namespace, device, tolerations }];
    const status = { allocation: { devices: { results } }, reservedFor: [...consumers] };
    await this.client.patch(
      ResourceClaims,
      key,
      { type: 'merge', subresource: 'status', body: { status } },
      this.signal,
    );
  }

  /** A driver publishes the devices of a node, with their taints. Pools are named after the namespace. */
  async publish(
    devices: Readonly<Record<string, readonly Omit<DeviceTaint, 'timeAdded'>[]>>,
    generation = 1,
  ): Promise<void> {
    const name = `${this.namespace}-${generation}`;
    const pool = { name: this.namespace, generation, resourceSliceCount: 1 };
    const list = Object.entries(devices).map(([device, taints]) => ({ name: device, taints: [...taints] }));
    const spec = { driver: 'example.com', nodeName: 'node', pool, devices: list };
    const key = objectKey(undefined, name);
    const found = await this.client.listAll(ResourceSlices, { fieldSelector: `metadata.name=${name}` }, this.signal);
    const [slice] = found.items;
    if (slice === undefined) await this.client.create(ResourceSlices, { metadata: { name }, spec }, this.signal);
    else
      await this.client.patch(ResourceSlices, key, { type: 'merge', body: { spec: { devices: list } } }, this.signal);
  }

  /** Asks about the pool that `publish` makes, and returns the answer. */
  async askForPool(name: string): Promise<ResourcePoolStatusRequest> {
    const metadata = { name: `${this.namespace}-${name}` };
    const spec = { driver: 'example.com', poolName: this.namespace };
    await this.client.create(ResourcePoolStatusRequests, { metadata, spec }, this.signal);
    return eventually(async () => {
      const key = objectKey(undefined, metadata.name);
      const request = await this.client.get(ResourcePoolStatusRequests, key, this.signal);
      return request.status !== undefined && request;
    }, this.signal);
  }

  /** The recorded names of a pod's claims, once there are as many as wanted. */
  recorded(podName: string, count: number): Promise<string[]> {
    return eventually(async () => {
      const { status } = await this.client.get(Pods, objectKey(this.namespace, podName), this.signal);
      const names = (status?.resourceClaimStatuses ?? []).map(({ resourceClaimName = '' }) => resourceClaimName);
      return names.length === count && names;
    }, this.signal);
  }

  /** Waits until a claim, or its absence, is as wanted. */
  async until(name: string, isSo: (claim: ResourceClaim | undefined) => boolean): Promise<void> {
    await eventually(async () => isSo(await this.find(name)), this.signal);
  }

  async find(name: string): Promise<ResourceClaim | undefined> {
    try {
      return await this.client.get(ResourceClaims, objectKey(this.namespace, name), this.signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

export const consumerOf = ({ metadata: { name, uid } }: Pod): ResourceClaimConsumer => ({
  resource: 'pods',
  name,
  uid,
});
export const isGone = (claim: ResourceClaim | undefined): boolean => claim === undefined;
export const isFree = (claim: ResourceClaim | undefined): boolean =>
  claim !== undefined &&
  claim.status?.allocation === undefined &&
  claim.status?.reservedFor === undefined &&
  claim.metadata.finalizers === undefined;
export const isReservedFor =
  (...names: readonly string[]) =>
  (claim: ResourceClaim | undefined): boolean =>
    (claim?.status?.reservedFor ?? []).map(({ name }) => name).join() === names.join();
