import {
  DeviceClasses,
  keyOf,
  objectKey,
  Pods,
  ResourceClaims,
  type Cached,
  type DeviceClass,
  type ObjectKey,
  type Pod,
  type ResourceClaim,
} from '../../pkg/api/index.ts';
import { byController } from '../../pkg/controller/index.ts';
import { defineIndex, type Informer, type InformerFactory } from '../../informers/index.ts';
import {
  isClaimOfPod,
  podOfExtendedClaim,
  podUsage,
  type ExtendedResources,
  type PodEvaluatorOptions,
} from '../../pkg/quota/index.ts';
import type { Clock } from '../../pkg/time/index.ts';

const patienceMs = 30_000;
const implicitPrefix = 'deviceclass.resource.kubernetes.io/';
const byExtendedResource = defineIndex<DeviceClass>('spec.extendedResourceName', ({ spec }) =>
  (spec.extendedResourceName ?? '') === '' ? [] : [spec.extendedResourceName ?? ''],
);

export interface DeviceClassDeps {
  readonly informers: InformerFactory;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly pods: PodEvaluatorOptions;
  /** Whether the server serves claims and classes. */
  readonly isServed: () => boolean;
  /** The classes of extended resources have changed: names of quotas may mean something else. */
  readonly onChange: () => void;
  /** The cost of a claim has changed with its pod or with another claim of that pod. */
  readonly refresh: (claim: ObjectKey) => void;
}

interface Caches {
  readonly classes: Informer<DeviceClass>;
  readonly claims: Informer<ResourceClaim>;
  readonly pods: Informer<Pod>;
}

/** Links claims to extended resources. The caches start with the first quota that names an extended resource. */
export class DeviceClassLinks implements ExtendedResources {
  readonly #deps: DeviceClassDeps;
  #caches: Caches | undefined;
  #sinceMs = 0;

  constructor(deps: DeviceClassDeps) {
    this.#deps = deps;
  }

  /** Whether all that is linked is known. A list that never arrives must not block the quotas for ever. */
  get isReady(): boolean {
    if (this.#caches === undefined || this.#deps.clock.monotonic() - this.#sinceMs >= patienceMs) return true;
    const { classes, claims, pods } = this.#caches;
    return classes.hasSynced && claims.hasSynced && pods.hasSynced;
  }

  hasClassFor(resource: string): boolean {
    if (this.#caches === undefined && this.#deps.isServed()) this.#caches = this.#start();
    if (this.#caches === undefined) return false;
    const { store } = this.#caches.classes;
    const isImplicit = resource.startsWith(implicitPrefix);
    if (isImplicit && store.get(objectKey(undefined, resource.slice(implicitPrefix.length))) !== undefined) return true;
    return store.countByIndex(byExtendedResource, resource) > 0;
  }

  resourceOf(className: string): string | undefined {
    return this.#caches?.classes.store.get(objectKey(undefined, className))?.spec.extendedResourceName;
  }

  podUsageOf(claim: Cached<ResourceClaim>): ReturnType<typeof podUsage> | undefined {
    const owner = podOfExtendedClaim(claim);
    if (owner === undefined || this.#caches === undefined) return undefined;
    const { pods, claims } = this.#caches;
    const pod = pods.store.get(objectKey(claim.metadata.namespace, owner.name));
    if (pod === undefined) return undefined;
    // Anyone may name any uid in an owner reference: claims of other namespaces are not of this pod.
    const isSibling = (each: Cached<ResourceClaim>): boolean =>
      each.metadata.namespace === claim.metadata.namespace && podOfExtendedClaim(each) !== undefined;
    const siblings = claims.store.byIndex(byController, owner.uid).filter(isSibling);
    return isClaimOfPod(claim, pod, siblings) ? podUsage(pod, this.#deps.pods.nowMs(), this.#deps.pods) : undefined;
  }

  #start(): Caches {
    const { informers, clock, onChange } = this.#deps;
    this.#sinceMs = clock.monotonic();
    const classes = informers.informerFor(DeviceClasses);
    const claims = informers.informerFor(ResourceClaims);
    const pods = informers.informerFor(Pods);
    classes.addIndex(byExtendedResource);
    claims.addIndex(byController);
    classes.addHandler({
      added: onChange,
      updated: (before, after) => {
        if (before.spec.extendedResourceName !== after.spec.extendedResourceName) onChange();
      },
      deleted: onChange,
    });
    const refreshClaimsOf = (podUid: string): void => {
      for (const claim of claims.store.byIndex(byController, podUid)) this.#deps.refresh(keyOf(claim));
    };
    const refreshSiblings = (claim: Cached<ResourceClaim>): void => {
      const pod = podOfExtendedClaim(claim);
      if (pod !== undefined) refreshClaimsOf(pod.uid);
    };
    claims.addHandler({
      added: refreshSiblings,
      updated: (_, after) => refreshSiblings(after),
      deleted: refreshSiblings,
    });
    const refreshOf = ({ metadata }: Cached<Pod>): void => refreshClaimsOf(metadata.uid);
    pods.addHandler({ added: refreshOf, updated: (_, after) => refreshOf(after), deleted: refreshOf });
    return { classes, claims, pods };
  }
}
