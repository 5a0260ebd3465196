import {
  ControllerRevisions,
  keyOf,
  objectKey,
  PersistentVolumeClaims,
  Pods,
  StatefulSets,
  type ControllerRevision,
  type PersistentVolumeClaim,
  type Pod,
  type StatefulSet,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isConflict, isNotFound } from '../../pkg/client/index.ts';
import { podTemplate, WorkloadUser, type PodsDescription } from './workload-user.ts';

export type StatefulSetDescription = Omit<PodsDescription, 'app'> &
  Partial<Omit<StatefulSet['spec'], 'template' | 'selector'>> & {
    readonly finalizers?: string[];
    readonly schedulerName?: string;
  };

export const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

/** A typical claim template. */
export function claimTemplates(name: string): NonNullable<StatefulSet['spec']['volumeClaimTemplates']> {
  return [{ metadata: { name, labels: { volume: name } }, spec: claimSpec }];
}

/** Acts like a user of StatefulSets, in one namespace. */
export class StatefulSetUser extends WorkloadUser {
  statefulSet(name: string, described: StatefulSetDescription = {}): Promise<StatefulSet> {
    const { image, labels, annotations, serviceAccountName, schedulerName, finalizers, ...spec } = described;
    const pods = { image, labels, annotations, serviceAccountName, schedulerName };
    const given = Object.fromEntries(Object.entries(pods).filter(([, value]) => value !== undefined));
    const set: Unsaved<StatefulSet> = {
      metadata: { namespace: this.namespace, name, finalizers },
      spec: {
        serviceName: name,
        ...spec,
        selector: { matchLabels: { app: name } },
        template: podTemplate({ app: name, ...given }),
      },
    };
    return this.client.create(StatefulSets, set, this.signal);
  }

  change(name: string, spec: object): Promise<StatefulSet> {
    return this.patch(StatefulSets, name, { spec });
  }

  /** A new image is a new revision; annotations are for the hollow nodes. */
  update(name: string, image: string, annotations?: Record<string, string | null>): Promise<StatefulSet> {
    return this.change(name, {
      template: { metadata: { annotations }, spec: { containers: [{ name: 'main', image }] } },
    });
  }

  /** As `kubectl scale` does. */
  async scaleTo(name: string, replicas: number): Promise<void> {
    const key = objectKey(this.namespace, name);
    const { metadata, ...scale } = await this.client.getScale(StatefulSets, key, this.signal);
    const unversioned = { ...metadata, resourceVersion: undefined }; // the status may change at any time
    await this.client.updateScale(
      StatefulSets,
      key,
      { ...scale, metadata: unversioned, spec: { replicas } },
      this.signal,
    );
  }

  /**
   * Waits until the set has observed its spec and has this many pods, all available and, by default, at the update
   * revision.
   */
  untilSettled(name: string, replicas: number, { updated = replicas } = {}): Promise<StatefulSet> {
    return this.until(StatefulSets, name, ({ metadata, status }) => {
      const isObserved = status?.observedGeneration === metadata.generation;
      const counts = [status?.replicas, status?.availableReplicas, status?.updatedReplicas].map((count) => count ?? 0);
      return isObserved && counts.join() === [replicas, replicas, updated].join();
    });
  }

  get(name: string): Promise<Pod> {
    return this.client.get(Pods, objectKey(this.namespace, name), this.signal);
  }

  /** Deletes the pod, and waits until another pod has its name. */
  async replacePod(name: string): Promise<void> {
    const { metadata } = await this.get(name);
    await this.delete(Pods, name);
    await this.until(Pods, name, (pod) => pod.metadata.uid !== metadata.uid);
  }

  /** Ends the pod with this phase, as its kubelet would. */
  async end(name: string, phase: 'Failed' | 'Succeeded'): Promise<void> {
    const pod = await this.get(name);
    const body = { status: { phase, reason: 'Evicted', conditions: null, containerStatuses: null } };
    await this.client.patch(Pods, keyOf(pod), { type: 'merge', body, subresource: 'status' }, this.signal);
    await this.until(Pods, name, ({ metadata }) => metadata.uid !== pod.metadata.uid);
  }

  async claims(app: string): Promise<PersistentVolumeClaim[]> {
    const options = { namespace: this.namespace, labelSelector: `app=${app}` };
    return (await this.client.listAll(PersistentVolumeClaims, options, this.signal)).items;
  }

  async revisions(app: string): Promise<ControllerRevision[]> {
    const options = { namespace: this.namespace, labelSelector: `app=${app}` };
    return (await this.client.listAll(ControllerRevisions, options, this.signal)).items;
  }

  /**
   * Deletes the claim and its finalizer: no controller that protects claims runs here. The set may create another at
   * once.
   */
  async deleteClaim(name: string): Promise<void> {
    const key = objectKey(this.namespace, name);
    const { metadata } = await this.client.get(PersistentVolumeClaims, key, this.signal);
    await this.delete(PersistentVolumeClaims, name);
    const unprotected = { metadata: { uid: metadata.uid, finalizers: null } };
    await this.patch(PersistentVolumeClaims, name, unprotected).catch((error: unknown) => {
      if (!isNotFound(error) && !isConflict(error)) throw error; // it had no finalizer
    });
  }
}
