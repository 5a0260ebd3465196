import {
  ControllerRevisions,
  DaemonSets,
  isConditionTrue,
  keyOf,
  Nodes,
  objectKey,
  Pods,
  type ControllerRevision,
  type DaemonSet,
  type KubeObject,
  type Pod,
  type PodSpec,
  type Taint,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { isNotFound } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';
import { podTemplate, WorkloadUser } from './workload-user.ts';

/** The label that assigns nodes to a DaemonSet, so that the DaemonSets of one test do not interfere. */
const nodesLabel = 'daemons';

export type DaemonSetDescription = Partial<Omit<DaemonSet['spec'], 'template' | 'selector'>> & {
  readonly image?: string;
  /** Annotations of the pods, for hollow nodes. */
  readonly annotations?: Record<string, string>;
  readonly ownAnnotations?: Record<string, string>;
  readonly pod?: Partial<PodSpec>;
};

/** Requires one of these nodes. */
export function affinityTo(nodes: readonly string[]): NonNullable<PodSpec['affinity']> {
  const termOf = (node: string) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] });
  const required = { nodeSelectorTerms: nodes.map(termOf) };
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
}

/** Acts like a user of DaemonSets and their nodes. */
export class DaemonSetUser extends WorkloadUser {
  /** The DaemonSet runs on the nodes that are assigned to its name, see `giveNodes`. */
  daemonSet(name: string, described: DaemonSetDescription = {}): Promise<DaemonSet> {
    const { image, annotations, ownAnnotations, pod, ...spec } = described;
    const template = podTemplate({ app: name, ...(image && { image }), ...(annotations && { annotations }) });
    const daemonSet: Unsaved<DaemonSet> = {
      metadata: { namespace: this.namespace, name, annotations: ownAnnotations },
      spec: {
        ...spec,
        selector: { matchLabels: { app: name } },
        template: {
          ...template,
          spec: { containers: [], ...template.spec, nodeSelector: { [nodesLabel]: name }, ...pod },
        },
      },
    };
    return this.client.create(DaemonSets, daemonSet, this.signal);
  }

  /** Assigns these nodes to the DaemonSet, schedulable and without taints. */
  async giveNodes(name: string, nodes: readonly string[]): Promise<void> {
    const body = {
      metadata: { labels: { [nodesLabel]: name } },
      spec: { taints: null, unschedulable: null },
    };
    await Promise.all(nodes.map((node) => this.patchNode(node, body)));
  }

  takeNode(node: string): Promise<KubeObject> {
    return this.patchNode(node, { metadata: { labels: { [nodesLabel]: null } } });
  }

  taint(node: string, ...taints: readonly Taint[]): Promise<KubeObject> {
    return this.patchNode(node, { spec: { taints: taints.length === 0 ? null : taints } });
  }

  patchNode(node: string, body: object): Promise<KubeObject> {
    return this.client.patch(Nodes, objectKey(undefined, node), { type: 'merge', body }, this.signal);
  }

  /** A node without a kubelet, so that its pods stay pending. */
  async bareNode(node: string, name: string): Promise<void> {
    await this.deleteNode(node);
    const metadata = { name: node, labels: { [nodesLabel]: name } };
    await this.client.create(Nodes, { metadata, spec: {} }, this.signal);
    await this.taint(node); // admission taints it as not ready
  }

  async deleteNode(node: string): Promise<void> {
    try {
      await this.client.delete(Nodes, objectKey(undefined, node), {}, this.signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  update(name: string, image: string, annotations?: Record<string, string | null>): Promise<DaemonSet> {
    const containers = [{ name: 'main', image }];
    return this.patch(DaemonSets, name, { spec: { template: { metadata: { annotations }, spec: { containers } } } });
  }

  /** Waits until exactly this many pods exist, with the current template and all available. */
  async untilDaemonsRun(name: string, wanted = 3): Promise<DaemonSet> {
    const daemonSet = await this.until(DaemonSets, name, (one) => isRunningOn(one, wanted));
    await eventually(async () => (await this.allPods(name)).length === wanted, this.signal);
    return daemonSet;
  }

  untilStatus(name: string, wanted: Counts): Promise<DaemonSet> {
    return this.until(DaemonSets, name, (daemonSet) => hasStatus(daemonSet, wanted));
  }

  /** Pods of the `app`, including terminating and finished ones. */
  async allPods(app: string): Promise<Pod[]> {
    const { namespace, signal } = this;
    return (await this.client.listAll(Pods, { namespace, labelSelector: `app=${app}` }, signal)).items;
  }

  /**
   * Waits until pods that are created from now on are younger than those of the `app`. Their times are whole seconds, and
   * of two pods of the same second on a node, the status counts the one whose name comes first.
   */
  async untilOlder(app: string): Promise<void> {
    const isOlder = ({ metadata }: Pod): boolean => Date.parse(metadata.creationTimestamp) + 1000 <= Date.now();
    await eventually(async () => (await this.pods(app)).every(isOlder), this.signal);
  }

  async podOn(app: string, node: string): Promise<Pod> {
    return eventually(async () => {
      const pods = await this.pods(app);
      return pods.find(({ spec }) => spec.nodeName === node) ?? false;
    }, this.signal);
  }

  /** Waits until the pod with this uid is deleted. */
  untilGone({ metadata }: Pod, app: string): Promise<boolean> {
    return eventually(
      async () => !(await this.allPods(app)).some((pod) => pod.metadata.uid === metadata.uid),
      this.signal,
    );
  }

  /**
   * Like `untilStatus`, but changes the pod of one node to cause syncs: the Go binary does not watch everything that
   * its status depends on.
   */
  async wakeUntilStatus(name: string, node: string, wanted: Counts): Promise<void> {
    const pod = await this.podOn(name, node);
    const annotate = (woken: string | null): Promise<Pod> =>
      this.patchPod(pod, { metadata: { annotations: { woken } } });
    let times = 0;
    await eventually(async () => {
      await annotate(String(times++));
      return hasStatus(await this.client.get(DaemonSets, objectKey(this.namespace, name), this.signal), wanted);
    }, this.signal);
    await annotate(null);
  }

  /** Fails the pod once it runs, as a kubelet does when it evicts. */
  async end(pod: Pod, phase: 'Failed' | 'Succeeded'): Promise<void> {
    await this.until(Pods, pod.metadata.name, ({ status }) => isConditionTrue(status?.conditions, 'Ready'));
    const body = { status: { phase, reason: 'Test', conditions: null, containerStatuses: null } };
    await this.client.patch(Pods, keyOf(pod), { type: 'merge', body, subresource: 'status' }, this.signal);
  }

  async revisionsOf(app: string): Promise<ControllerRevision[]> {
    const { namespace, signal } = this;
    const { items } = await this.client.listAll(
      ControllerRevisions,
      { namespace, labelSelector: `app=${app}` },
      signal,
    );
    return items.sort((a, b) => a.revision - b.revision);
  }
}

type Counts = Partial<NonNullable<DaemonSet['status']>>;

/** Whether the latest generation is observed, with these counts. */
function hasStatus({ metadata, status }: DaemonSet, wanted: Counts): boolean {
  const found: object = status ?? {};
  const isWanted = ([field, value]: [string, unknown]): boolean =>
    ((found as Record<string, unknown>)[field] ?? 0) === value;
  return status?.observedGeneration === metadata.generation && Object.entries(wanted).every(isWanted);
}

function isRunningOn({ metadata, status }: DaemonSet, wanted: number): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    status?.desiredNumberScheduled === wanted &&
    status.currentNumberScheduled === wanted &&
    status.numberReady === wanted &&
    (status.updatedNumberScheduled ?? 0) === wanted &&
    (status.numberAvailable ?? 0) === wanted &&
    status.numberMisscheduled === 0
  );
}
