import {
  CustomResourceDefinitions,
  defineKind,
  objectKey,
  PodDisruptionBudgets,
  Pods,
  type CustomResourceDefinition,
  type Pod,
  type PodCondition,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
  type UntypedObject,
} from '../../pkg/api/index.ts';
import { isAlreadyExists, isTooManyRequests, type Client } from '../../pkg/client/index.ts';
import { eventually } from './eventually.ts';
import { WorkloadUser } from './workload-user.ts';

type BudgetSpec = NonNullable<PodDisruptionBudget['spec']>;

/** Custom resources with a scale, and without. */
export const Gatherings = defineKind<UntypedObject>({
  group: 'budgets.example.com',
  version: 'v1',
  kind: 'Gathering',
  resource: 'gatherings',
  namespaced: true,
});
export const Crowds = defineKind<UntypedObject>({ ...Gatherings, kind: 'Crowd', resource: 'crowds' });

/** Acts like a user of PodDisruptionBudgets and their pods. */
export class BudgetUser extends WorkloadUser {
  /** Selects the pods with the budget's name as their `app`, unless the spec has another selector. */
  budget(name: string, spec: BudgetSpec): Promise<PodDisruptionBudget> {
    const selector = { matchLabels: { app: name } };
    const metadata = { namespace: this.namespace, name };
    return this.client.create(PodDisruptionBudgets, { metadata, spec: { selector, ...spec } }, this.signal);
  }

  /** Waits until the budget has observed its spec and has these numbers in its status. */
  untilBudget(name: string, wanted: Partial<PodDisruptionBudgetStatus>): Promise<PodDisruptionBudget> {
    const entries = Object.entries(wanted) as [keyof PodDisruptionBudgetStatus, unknown][];
    return this.until(
      PodDisruptionBudgets,
      name,
      ({ metadata, status }) =>
        status?.observedGeneration === metadata.generation &&
        entries.every(([field, value]) => status?.[field] === value),
    );
  }

  untilReason(name: string, reason: string): Promise<PodDisruptionBudget> {
    return this.until(PodDisruptionBudgets, name, ({ status }) => status?.conditions?.[0]?.reason === reason);
  }

  /** Evicts the pod as soon as its budget allows. */
  async evict(pod: Pod): Promise<void> {
    await eventually(async () => (await this.tryToEvict(pod)) === undefined, this.signal);
  }

  /** The error; undefined if the pod was evicted. */
  async tryToEvict({ metadata: { name } }: Pod): Promise<unknown> {
    try {
      await this.client.evictPod(objectKey(this.namespace, name), {}, this.signal);
      return undefined;
    } catch (error) {
      if (isTooManyRequests(error)) return error;
      throw error;
    }
  }

  /** A pod that runs and is ready, with any controller. */
  async readyPod(
    name: string,
    app: string,
    owner?: { readonly kind: string; readonly object: UntypedObject },
  ): Promise<Pod> {
    const reference = owner && {
      apiVersion: 'budgets.example.com/v1',
      kind: owner.kind,
      name: owner.object.metadata.name,
      uid: owner.object.metadata.uid,
      controller: true,
    };
    await this.pod(name, { app }, reference && { ownerReferences: [reference] });
    return this.until(Pods, name, ({ status }) => isReady(status?.conditions));
  }

  /** Writes the status, as the API server does for an eviction, or as a controller does. */
  async patchStatus(kind: typeof Pods | typeof PodDisruptionBudgets, name: string, status: object): Promise<void> {
    const patch = { type: 'strategic', subresource: 'status', body: { status } } as const;
    await this.client.patch<Pod | PodDisruptionBudget>(kind, objectKey(this.namespace, name), patch, this.signal);
  }

  custom(kind: typeof Gatherings, name: string, replicas: number): Promise<UntypedObject> {
    const metadata = { namespace: this.namespace, name };
    return this.client.create(kind, { metadata, spec: { replicas } }, this.signal);
  }
}

const isReady = (conditions: readonly PodCondition[] | undefined): boolean =>
  conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

/** Defines the custom resources, once for a cluster, and waits until they are served. */
export async function defineCustomResources(client: Client, signal: AbortSignal): Promise<void> {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  for (const { group, kind, resource } of [Gatherings, Crowds]) {
    const subresources = { status: {}, ...(kind === Gatherings.kind && { scale }) };
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, subresources };
    const spec = { group, scope: 'Namespaced', names: { kind, plural: resource }, versions: [version] };
    const definition = { metadata: { name: `${resource}.${group}` }, spec } as unknown as CustomResourceDefinition;
    await client.create(CustomResourceDefinitions, definition, signal).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    await eventually(() => client.list(defineKind({ ...Gatherings, kind, resource }), {}, signal), signal);
  }
}
