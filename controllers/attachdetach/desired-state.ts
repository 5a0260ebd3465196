import { keyOf, type Cached, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import type { EventSubject } from '../../pkg/events/index.ts';
import type { AttachableVolume } from '../../pkg/volumes/index.ts';

/** A volume that pods on one node need. */
export interface Need {
  readonly volume: AttachableVolume;
  readonly pods: ReadonlyMap<ObjectKey, EventSubject>;
  /** It was reported to the pods that another node has the volume. */
  isConflictReported: boolean;
}

interface PodNeeds {
  readonly uid: string;
  readonly nodeName: string;
  readonly volumes: Set<string>;
}

/** What the volumes of a pod stand for at the moment. */
export interface ResolvedVolumes {
  readonly attachable: readonly AttachableVolume[];
  /** Names of volumes whose driver does not attach. */
  readonly unattached: readonly string[];
}

/**
 * Which volumes should be attached to which nodes: those of pods that run there, or will. A volume that a pod needs stays
 * until the pod has stopped, even if its claim or its PersistentVolume is gone.
 */
export class DesiredState {
  readonly #needs = new Map<string, Map<string, Need & { readonly pods: Map<ObjectKey, EventSubject> }>>();
  readonly #pods = new Map<ObjectKey, PodNeeds>();
  /** Nodes whose kubelet leaves it to this controller to attach, with the number of needs on each. */
  readonly #managed = new Map<string, number>();
  readonly #deleted = new Set<string>();

  manage(nodeName: string): void {
    this.#deleted.delete(nodeName);
    if (!this.#managed.has(nodeName)) this.#managed.set(nodeName, 0);
  }

  isManaged(nodeName: string): boolean {
    return this.#managed.has(nodeName);
  }

  /** The node is gone. While pods of it are left, their volumes stay. */
  forgetNode(nodeName: string): void {
    if (this.#managed.get(nodeName) === 0) this.#managed.delete(nodeName);
    else if (this.#managed.has(nodeName)) this.#deleted.add(nodeName);
  }

  /** Undefined if no pod needs the volume. */
  volume(volumeName: string): unknown {
    return this.#needs.get(volumeName);
  }

  /** The needs of a volume by node. */
  needsOf(volumeName: string): ReadonlyMap<string, Need> {
    return this.#needs.get(volumeName) ?? new Map<string, Need>();
  }

  /** Adds what a pod needs. Returns the names of the volumes whose needs changed. */
  add(pod: Cached<Pod>, { attachable, unattached }: ResolvedVolumes): string[] {
    const key = keyOf(pod);
    const { nodeName = '' } = pod.spec;
    const changed = this.#pods.get(key)?.uid === pod.metadata.uid ? [] : this.remove(key);
    if (!this.isManaged(nodeName)) return changed;
    const { volumes } = this.#podOf(pod, key);
    for (const volume of attachable) {
      if (volumes.has(volume.uniqueName)) continue;
      volumes.add(volume.uniqueName);
      this.#addNeed(volume, nodeName, key, pod);
      changed.push(volume.uniqueName);
    }
    for (const volumeName of unattached) {
      if (!volumes.delete(volumeName)) continue;
      this.#removeNeed(volumeName, nodeName, key);
      changed.push(volumeName);
    }
    if (volumes.size === 0) this.#pods.delete(key);
    return changed;
  }

  /** The pod has stopped, or is gone. Returns the names of the volumes whose needs changed. */
  remove(key: ObjectKey): string[] {
    const needs = this.#pods.get(key);
    if (needs === undefined) return [];
    this.#pods.delete(key);
    for (const volumeName of needs.volumes) this.#removeNeed(volumeName, needs.nodeName, key);
    return [...needs.volumes];
  }

  #podOf({ metadata: { uid }, spec: { nodeName = '' } }: Cached<Pod>, key: ObjectKey): PodNeeds {
    const known = this.#pods.get(key);
    if (known !== undefined) return known;
    const needs = { uid, nodeName, volumes: new Set<string>() };
    this.#pods.set(key, needs);
    return needs;
  }

  #addNeed(volume: AttachableVolume, nodeName: string, key: ObjectKey, { metadata }: Cached<Pod>): void {
    const nodes = this.#needs.get(volume.uniqueName) ?? new Map<string, never>();
    this.#needs.set(volume.uniqueName, nodes);
    let need = nodes.get(nodeName);
    if (need === undefined) {
      need = { volume, pods: new Map<ObjectKey, EventSubject>(), isConflictReported: false };
      nodes.set(nodeName, need);
      this.#managed.set(nodeName, (this.#managed.get(nodeName) ?? 0) + 1);
    }
    const { name, namespace, uid, resourceVersion } = metadata;
    need.pods.set(key, { metadata: { name, namespace, uid, resourceVersion } });
  }

  #removeNeed(volumeName: string, nodeName: string, key: ObjectKey): void {
    const nodes = this.#needs.get(volumeName);
    const need = nodes?.get(nodeName);
    need?.pods.delete(key);
    if (nodes === undefined || need === undefined || need.pods.size > 0) return;
    nodes.delete(nodeName);
    if (nodes.size === 0) this.#needs.delete(volumeName);
    const left = (this.#managed.get(nodeName) ?? 1) - 1;
    if (left === 0 && this.#deleted.delete(nodeName)) this.#managed.delete(nodeName);
    else this.#managed.set(nodeName, left);
  }
}
