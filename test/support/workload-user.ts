import {
  Deployments,
  keyOf,
  objectKey,
  Pods,
  ReplicaSets,
  ReplicationControllers,
  type Deployment,
  type DeploymentSpec,
  type Kind,
  type KubeObject,
  type Pod,
  type PodTemplateSpec,
  type ReplicaSet,
  type ReplicationController,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { watchUntil } from './eventually.ts';
import { NamespaceUser } from './namespace-user.ts';

export interface PodsDescription {
  /** The pods' `app`, by which they are selected. */
  readonly app: string;
  readonly image?: string;
  readonly labels?: Record<string, string>;
  /** Annotations, for hollow nodes. */
  readonly annotations?: Record<string, string>;
  readonly serviceAccountName?: string;
}

export function podTemplate({ app, labels, annotations, image = 'one', ...pod }: PodsDescription): PodTemplateSpec {
  return {
    metadata: { labels: { app, ...labels }, annotations },
    spec: { containers: [{ name: 'main', image }], terminationGracePeriodSeconds: 5, ...pod },
  };
}

export interface SetDescription extends Omit<PodsDescription, 'app'> {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly finalizers?: string[];
  /** Default: the object's name. */
  readonly app?: string;
}

export type DeploymentDescription = Omit<PodsDescription, 'app'> &
  Partial<Omit<DeploymentSpec, 'template' | 'selector'>> & {
    readonly ownAnnotations?: Record<string, string>;
    readonly finalizers?: string[];
  };

/** Acts like a user of ReplicaSets, ReplicationControllers and Deployments, in one namespace. */
export class WorkloadUser extends NamespaceUser {
  pod(name: string, described: PodsDescription, metadata: Partial<Pod['metadata']> = {}): Promise<Pod> {
    const { spec = { containers: [] }, metadata: { labels, annotations } = {} } = podTemplate(described);
    const own = { namespace: this.namespace, name, labels, annotations, ...metadata };
    return this.client.create(Pods, { metadata: own, spec }, this.signal);
  }

  replicaSet(name: string, described: SetDescription = {}): Promise<ReplicaSet> {
    const { replicas = 1, minReadySeconds, finalizers, app = name, ...pods } = described;
    const set: Unsaved<ReplicaSet> = {
      metadata: { namespace: this.namespace, name, finalizers, labels: { app, ...pods.labels } },
      spec: {
        replicas,
        minReadySeconds,
        selector: { matchLabels: { app } },
        template: podTemplate({ app, ...pods }),
      },
    };
    return this.client.create(ReplicaSets, set, this.signal);
  }

  replicationController(name: string, described: SetDescription = {}): Promise<ReplicationController> {
    const { replicas = 1, minReadySeconds, finalizers, app = name, ...pods } = described;
    const controller: Unsaved<ReplicationController> = {
      metadata: { namespace: this.namespace, name, finalizers },
      spec: { replicas, minReadySeconds, selector: { app }, template: podTemplate({ app, ...pods }) },
    };
    return this.client.create(ReplicationControllers, controller, this.signal);
  }

  deployment(name: string, described: DeploymentDescription = {}): Promise<Deployment> {
    const { image, labels, annotations, serviceAccountName, ownAnnotations, finalizers, ...spec } = described;
    const pods = { image, labels, annotations, serviceAccountName };
    const given = Object.fromEntries(Object.entries(pods).filter(([, value]) => value !== undefined));
    const deployment: Unsaved<Deployment> = {
      metadata: { namespace: this.namespace, name, annotations: ownAnnotations, finalizers },
      spec: { ...spec, selector: { matchLabels: { app: name } }, template: podTemplate({ app: name, ...given }) },
    };
    return this.client.create(Deployments, deployment, this.signal);
  }

  patch<T extends KubeObject>(kind: Kind<T>, name: string, body: object): Promise<T> {
    return this.client.patch(kind, objectKey(this.namespace, name), { type: 'merge', body }, this.signal);
  }

  scale(kind: Kind, name: string, replicas: number): Promise<KubeObject> {
    return this.patch(kind, name, { spec: { replicas } });
  }

  /** A new image is a new revision; annotations are for the hollow nodes. */
  rollOut(name: string, image: string, annotations?: Record<string, string | null>): Promise<Deployment> {
    const containers = [{ name: 'main', image }];
    return this.patch(Deployments, name, { spec: { template: { metadata: { annotations }, spec: { containers } } } });
  }

  patchPod(pod: Pod, body: object): Promise<Pod> {
    return this.client.patch(Pods, keyOf(pod), { type: 'merge', body }, this.signal);
  }

  delete(kind: Kind, name: string): Promise<void> {
    return this.client.delete(kind, objectKey(this.namespace, name), {}, this.signal);
  }

  /** All pods with this `app` that are neither finished nor terminating. */
  async pods(app: string): Promise<Pod[]> {
    const { namespace, signal } = this;
    const { items } = await this.client.listAll(Pods, { namespace, labelSelector: `app=${app}` }, signal);
    return items.filter(
      ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.phase !== 'Failed',
    );
  }

  async podsOf(app: string, count: number): Promise<readonly [Pod, ...Pod[]]> {
    const [first, ...rest] = await this.pods(app);
    if (first === undefined || rest.length + 1 !== count)
      throw new Error(`${app} has ${rest.length} pods, not ${count}`);
    return [first, ...rest];
  }

  setsOf(app: string): Promise<ReplicaSet[]> {
    const { namespace, signal } = this;
    return this.client
      .listAll(ReplicaSets, { namespace, labelSelector: `app=${app}` }, signal)
      .then(({ items }) => items);
  }

  /** The object, once it matches. */
  async until<T extends KubeObject>(kind: Kind<T>, name: string, isWanted: (object: T) => boolean): Promise<T> {
    const { client, namespace, signal } = this;
    let last: T | undefined;
    const look = (object: T): boolean => {
      last = object;
      return isWanted(object);
    };
    try {
      const [found] = await watchUntil(
        client,
        kind,
        { namespace, fieldSelector: `metadata.name=${name}` },
        look,
        signal,
      );
      if (found !== undefined) return found;
      throw new Error('it does not exist');
    } catch (error) {
      throw new Error(`waiting for ${kind.kind} ${name}, which is ${JSON.stringify(last)}`, { cause: error });
    }
  }

  /** Waits until a ReplicaSet or ReplicationController has observed its spec and has this many pods, all available. */
  untilAvailable(kind: Kind, name: string, wanted: number): Promise<KubeObject> {
    return this.until(kind as Kind<ReplicaSet>, name, (set) => isSettledAt(set, wanted));
  }

  untilRolledOut(name: string): Promise<Deployment> {
    return this.until(Deployments, name, isRolledOut);
  }
}

export function isSettledAt({ metadata, status }: ReplicaSet, wanted: number): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted
  );
}

export function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const wanted = spec.replicas ?? 1;
  return (
    status?.observedGeneration === metadata.generation &&
    (status?.replicas ?? 0) === wanted &&
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted
  );
}

/** The status and reason of a condition: `Available=True MinimumReplicasAvailable`. */
export function conditionsOf(object: { status?: Deployment['status'] }): string[] {
  const conditions = object.status?.conditions ?? [];
  return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason ?? ''}`).sort();
}
