import {
  CSIDrivers,
  metadataOf,
  Nodes,
  objectKey,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttachments,
  type Node,
  type PersistentVolume,
  type VolumeAttachment,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import { attachmentName, csiUniqueName } from '../../pkg/volumes/index.ts';
import { eventually } from './eventually.ts';
import { claimSpec } from './stateful-set-user.ts';
import { claimVolume, VolumeUser, type PodDescription } from './volume-user.ts';

export const driver = 'disk.example.com';

const conditions = (isReady: boolean) => [
  { type: 'Ready', status: isReady ? 'True' : 'Unknown', reason: 'Test', message: 'test' },
];

/**
 * Does what users, kubelets and external attachers do with volumes that are attached. No machine is behind its nodes, and
 * nobody else works on its VolumeAttachments.
 */
export class AttachUser {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #signal: AbortSignal;
  readonly volumes: VolumeUser;

  constructor(client: Client, namespace: string, signal: AbortSignal) {
    this.#client = client;
    this.#namespace = namespace;
    this.#signal = signal;
    this.volumes = new VolumeUser(client, namespace, signal);
  }

  /** The names of objects outside namespaces, and the handles of volumes, have the name of the namespace before them. */
  nameOf(part: string): string {
    return `${this.#namespace}-${part}`;
  }

  uniqueName(volume: string): string {
    return csiUniqueName(driver, this.nameOf(volume));
  }

  attachmentName(volume: string, node: string, of: { driver?: string; handle?: string } = {}): string {
    return attachmentName(of.driver ?? driver, of.handle ?? this.nameOf(volume), this.nameOf(node));
  }

  async node(name: string, { isManaged = true } = {}): Promise<void> {
    const annotations = isManaged ? { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } : {};
    const metadata = { name: this.nameOf(name), annotations };
    await this.#client.create(Nodes, { metadata, spec: {} }, this.#signal);
    await this.setHealth(name, true);
  }

  setHealth(name: string, isReady: boolean): Promise<void> {
    return this.volumes.setStatus(Nodes, name, { conditions: conditions(isReady) });
  }

  /** The kubelet says which volumes it uses. */
  use(node: string, ...uniqueNames: string[]): Promise<void> {
    return this.volumes.setStatus(Nodes, node, { volumesInUse: uniqueNames.length === 0 ? null : uniqueNames });
  }

  async taint(node: string, key: string): Promise<void> {
    const patch = { type: 'merge', body: { spec: { taints: [{ key, effect: 'NoExecute' }] } } } as const;
    await this.#client.patch(metadataOf(Nodes), objectKey(undefined, this.nameOf(node)), patch, this.#signal);
  }

  /** A claim that is bound to a volume of the same name, as the binder leaves them. */
  async boundClaim(
    name: string,
    source: Partial<PersistentVolume['spec']> = { csi: { driver, volumeHandle: this.nameOf(name) } },
    accessModes = ['ReadWriteOnce'],
  ): Promise<void> {
    const { storageClassName } = source;
    const spec = { volumeName: this.nameOf(name), ...(storageClassName !== undefined && { storageClassName }) };
    const { uid } = (await this.volumes.claim(name, { spec })).metadata;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: this.#namespace, name, uid };
    const bound = { accessModes, capacity: { storage: '1Gi' }, claimRef, ...source };
    const metadata = { name: this.nameOf(name) };
    await this.#client.create(PersistentVolumes, { metadata, spec: bound }, this.#signal);
    await this.volumes.setStatus(PersistentVolumes, name, { phase: 'Bound' });
    await this.volumes.setStatus(PersistentVolumeClaims, name, {
      phase: 'Bound',
      accessModes: claimSpec.accessModes,
      capacity: { storage: '1Gi' },
    });
  }

  async csiDriver(name: string, attachRequired: boolean): Promise<void> {
    await this.#client.create(
      CSIDrivers,
      { metadata: { name: this.nameOf(name) }, spec: { attachRequired } },
      this.#signal,
    );
  }

  async pod(name: string, node: string, volumes: string | PodDescription['volumes']): Promise<void> {
    const described = typeof volumes === 'string' ? [claimVolume(volumes)] : volumes;
    await this.volumes.pod(name, { volumes: described, nodeName: this.nameOf(node) });
  }

  deletePod(name: string): Promise<void> {
    return this.volumes.delete(Pods, name);
  }

  /** The external attacher reports, with its finalizer on the object. */
  async setAttachment(name: string, status: object): Promise<void> {
    const key = objectKey(undefined, name);
    await this.untilAttachment(name, (found) => found !== undefined);
    const finalizers = {
      type: 'merge',
      body: { metadata: { finalizers: ['external-attacher/disk-example-com'] } },
    } as const;
    await this.#client.patch(metadataOf(VolumeAttachments), key, finalizers, this.#signal);
    const patch = { type: 'merge', subresource: 'status', body: { status } } as const;
    await this.#client.patch(metadataOf(VolumeAttachments), key, patch, this.#signal);
  }

  /** The external attacher is asked to detach, and does. */
  async letGo(name: string): Promise<void> {
    await this.untilAttachment(name, (found) => found?.metadata.deletionTimestamp !== undefined);
    const patch = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
    await this.#client.patch(metadataOf(VolumeAttachments), objectKey(undefined, name), patch, this.#signal);
    await this.untilAttachment(name, (found) => found === undefined);
  }

  async untilAttachment(name: string, isSo: (found: VolumeAttachment | undefined) => boolean): Promise<void> {
    await eventually(async () => isSo(await this.#findAttachment(name)), this.#signal);
  }

  async #findAttachment(name: string): Promise<VolumeAttachment | undefined> {
    try {
      return await this.#client.get(VolumeAttachments, objectKey(undefined, name), this.#signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Waits until the status of a node has exactly these volumes. */
  async untilReported(node: string, ...uniqueNames: string[]): Promise<void> {
    await this.volumes.until<Node>(Nodes, node, (found) => {
      const reported = (found?.status?.volumesAttached ?? []).map(({ name }) => name).sort();
      return reported.join() === uniqueNames.sort().join();
    });
  }
}
