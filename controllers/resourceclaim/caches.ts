import {
  objectKey,
  Pods,
  ResourceClaims,
  ResourceClaimTemplates,
  type Cached,
  type Kind,
  type Pod,
  type PodGroup,
  type ResourceClaim,
} from '../../pkg/api/index.ts';
import { byController, podsByGroup, type ControllerContext } from '../../pkg/controller/index.ts';
import { podGroupNameOf, type ClaimUser } from '../../pkg/resourceclaims/index.ts';
import type { Informer } from '../../informers/index.ts';
import { groupsByClaimTemplate, groupsByResourceClaim, podsByClaimTemplate, podsByResourceClaim } from './indexes.ts';
import type { UserView } from './user-plan.ts';

export type Caches = ReturnType<typeof createCaches>;

/** The caches of the controller, with their indexes. `groups` is undefined if groups have no claims. */
export function createCaches({ gates, informers }: ControllerContext, groupKind: Kind<PodGroup> | undefined) {
  const pods = informers.informerFor(Pods);
  const claims = informers.informerFor(ResourceClaims);
  const templates = informers.informerFor(ResourceClaimTemplates);
  const groups: Informer<PodGroup> | undefined = groupKind && informers.informerFor(groupKind);
  pods.addIndex(podsByResourceClaim);
  pods.addIndex(podsByClaimTemplate);
  claims.addIndex(byController);
  if (groups !== undefined) {
    pods.addIndex(podsByGroup);
    groups.addIndex(groupsByResourceClaim);
    groups.addIndex(groupsByClaimTemplate);
  }
  const acceptsGroups = groups !== undefined;
  const allowsAlternatives = gates.isEnabled('DRAPrioritizedList');

  /** The group of a pod; `missing` if it names one that is not in the cache. */
  function groupOf(pod: Cached<Pod>): Cached<PodGroup> | 'missing' | undefined {
    const name = podGroupNameOf(pod);
    if (groups === undefined || name === undefined) return undefined;
    return groups.store.get(objectKey(pod.metadata.namespace, name)) ?? 'missing';
  }

  const claimIn =
    ({ metadata }: ClaimUser) =>
    (name: string): Cached<ResourceClaim> | undefined =>
      claims.store.get(objectKey(metadata.namespace, name));

  const viewOf = (user: ClaimUser, kind: UserView['kind'], group?: Cached<PodGroup>): UserView => ({
    kind,
    claimOf: claimIn(user),
    templateOf: (name) => templates.store.get(objectKey(user.metadata.namespace, name)),
    claimsMadeFor: ({ metadata }) => claims.store.byIndex(byController, metadata.uid),
    group,
    acceptsGroups,
    allowsAlternatives,
  });

  return { pods, claims, templates, groups, acceptsGroups, groupOf, claimIn, viewOf };
}
