import {
  controllerReference,
  metadataOf,
  objectKey,
  PersistentVolumeClaims,
  Pods,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';
import { claimSpec } from './stateful-set-user.ts';

type Volume = NonNullable<PodSpec['volumes']>[number];

export interface PodDescription {
  readonly volumes: Volume[];
  /** Not set: no node. No kubelet is there: what becomes of the pod is for the user to say. */
  readonly nodeName?: string;
  readonly finalizers?: string[];
}

export const claimVolume = (claimName: string): Volume => ({ name: 'data', persistentVolumeClaim: { claimName } });
export const ephemeralVolume = (name: string, metadata: object = {}): Volume => ({
  name,
  ephemeral: { volumeClaimTemplate: { metadata, spec: claimSpec } },
});

export const volumeSpec = {
  accessModes: ['ReadWriteOnce'],
  capacity: { storage: '1Gi' },
  hostPath: { path: '/tmp/volume' },
};
export const attributesClass = { driverName: 'example.com', parameters: { speed: 'high' } };

type IsSo<T> = (object: T | undefined) => boolean;

export const isGone: IsSo<KubeObject> = (object) => object === undefined;
export const isThere: IsSo<KubeObject> = (object) => object !== undefined;
export const hasFinalizers =
  (count: number): IsSo<KubeObject> =>
  (object) =>
    object?.metadata.finalizers?.length === count;

/**
 * Does with volumes, claims and pods what users, binders and kubelets do. Of kinds outside namespaces, its objects have
 * the name of its namespace before their own.
 */
export class VolumeUser {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #signal: AbortSignal;

  constructor(client: Client, namespace: string, signal: AbortSignal) {
    this.#client = client;
    this.#namespace = namespace;
    this.#signal = signal;
  }

  keyOf(kind: Kind, name: string): ObjectKey {
    return kind.namespaced ? objectKey(this.#namespace, name) : objectKey(undefined, `${this.#namespace}-${name}`);
  }

  claim(
    name: string,
    { finalizers, owner, spec }: { finalizers?: string[]; owner?: Pod | undefined; spec?: object } = {},
  ): Promise<PersistentVolumeClaim> {
    const ownerReferences = owner && [controllerReference(Pods, owner)];
    const metadata = { namespace: this.#namespace, name, finalizers, ownerReferences };
    return this.#client.create(PersistentVolumeClaims, { metadata, spec: { ...claimSpec, ...spec } }, this.#signal);
  }

  pod(name: string, { volumes, nodeName, finalizers }: PodDescription): Promise<Pod> {
    const containers = [{ name: 'app', image: 'example' }];
    const metadata = { namespace: this.#namespace, name, finalizers };
    return this.#client.create(Pods, { metadata, spec: { containers, volumes, nodeName } }, this.#signal);
  }

  /** Creates an object of a kind outside namespaces. */
  async create(kind: Kind, name: string, fields: object, finalizers?: string[]): Promise<void> {
    const metadata = { name: `${this.#namespace}-${name}`, finalizers };
    await this.#client.create<KubeObject>(kind, { metadata, ...fields }, this.#signal);
  }

  async setStatus(kind: Kind, name: string, status: object): Promise<void> {
    const patch = { type: 'merge', subresource: 'status', body: { status } } as const;
    await this.#client.patch(metadataOf(kind), this.keyOf(kind, name), patch, this.#signal);
  }

  async setFinalizers(kind: Kind, name: string, finalizers: string[] | null): Promise<void> {
    const patch = { type: 'merge', body: { metadata: { finalizers } } } as const;
    await this.#client.patch(metadataOf(kind), this.keyOf(kind, name), patch, this.#signal);
  }

  /** A pod is deleted without a grace period: the kubelet is done with it. */
  async delete(kind: Kind, ...names: readonly string[]): Promise<void> {
    const options = kind === Pods ? { gracePeriodSeconds: 0 } : {};
    for (const name of names) await this.#client.delete(kind, this.keyOf(kind, name), options, this.#signal);
  }

  /** Waits until an object, or its absence, is as wanted. */
  async until<T extends KubeObject>(kind: Kind<T>, name: string, isSo: IsSo<T>): Promise<T | undefined> {
    let object: T | undefined;
    await eventually(async () => {
      object = await this.#find(kind, name);
      return isSo(object);
    }, this.#signal);
    return object;
  }

  async #find<T extends KubeObject>(kind: Kind<T>, name: string): Promise<T | undefined> {
    try {
      return await this.#client.get(kind, this.keyOf(kind, name), this.#signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
