import {
  keyOf,
  type Cached,
  type Pod,
  type PodGroup,
  type ResourceClaim,
  type ResourceClaimTemplate,
} from '../../pkg/api/index.ts';
import { podsByGroup, type KeySink } from '../../pkg/controller/index.ts';
import { claimEntriesOf, claimNamesOf, type ClaimUser } from '../../pkg/resourceclaims/index.ts';
import type { HandlerRegistration } from '../../informers/index.ts';
import type { Caches } from './caches.ts';
import { groupsByClaimTemplate, groupsByResourceClaim, podsByClaimTemplate, podsByResourceClaim } from './indexes.ts';
import { groupNeedsSync, podNeedsSync } from './needs-sync.ts';
import { isPodDone } from './pod-state.ts';
import { workKey } from './work-keys.ts';

/** Uids of consumers whose deletion was observed: no request is needed to know that they are gone. */
export interface DeletedUids {
  add(uid: string): void;
}

/** Enqueues what each change concerns. */
export function addHandlers(caches: Caches, queue: KeySink, deletedUids: DeletedUids): HandlerRegistration[] {
  const { pods, claims, templates, groups, acceptsGroups, groupOf, claimIn } = caches;

  function enqueueClaims({ metadata }: ClaimUser, names: readonly string[]): void {
    for (const name of names) queue.add(workKey('claim', metadata.namespace, name));
  }

  function enqueuePod(pod: Cached<Pod>): void {
    // The scheduler makes the claim of extended resources, and records it apart. It ends like the others.
    const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
    if (claimEntriesOf(pod).length === 0 && extended === undefined) return;
    if (isPodDone(pod)) enqueueClaims(pod, [...claimNamesOf(pod), ...(extended === undefined ? [] : [extended])]);
    if (podNeedsSync(pod, { claimOf: claimIn(pod), group: groupOf(pod), acceptsGroups })) {
      queue.add(workKey('pod', pod.metadata.namespace, pod.metadata.name));
    }
  }

  function enqueueGroup(group: Cached<PodGroup>): void {
    if (claimEntriesOf(group).length === 0) return;
    if (groupNeedsSync(group, { claimOf: claimIn(group), acceptsGroups })) {
      queue.add(workKey('podgroup', group.metadata.namespace, group.metadata.name));
    }
    pods.store.byIndex(podsByGroup, keyOf(group)).forEach(enqueuePod);
  }

  /** The user is gone: its claims are free, and what is kept for its key is dropped. */
  function release(user: ClaimUser, subject: 'pod' | 'podgroup', names: readonly string[]): void {
    if (claimEntriesOf(user).length === 0 && names.length === 0) return;
    deletedUids.add(user.metadata.uid);
    enqueueClaims(user, names);
    queue.add(workKey(subject, user.metadata.namespace, user.metadata.name));
  }

  function enqueueUsers(claim: Cached<ResourceClaim>): void {
    pods.store.byIndex(podsByResourceClaim, keyOf(claim)).forEach(enqueuePod);
    groups?.store.byIndex(groupsByResourceClaim, keyOf(claim)).forEach(enqueueGroup);
  }

  function enqueueClaim(claim: Cached<ResourceClaim>): void {
    queue.add(workKey('claim', claim.metadata.namespace, claim.metadata.name));
    enqueueUsers(claim);
  }

  function enqueueTemplateUsers(template: Cached<ResourceClaimTemplate>): void {
    pods.store.byIndex(podsByClaimTemplate, keyOf(template)).forEach(enqueuePod);
    groups?.store.byIndex(groupsByClaimTemplate, keyOf(template)).forEach(enqueueGroup);
  }

  const groupHandler = groups?.addHandler({
    added: enqueueGroup,
    updated: (_before, after) => enqueueGroup(after),
    deleted(last) {
      release(last, 'podgroup', claimNamesOf(last));
      pods.store.byIndex(podsByGroup, keyOf(last)).forEach(enqueuePod);
    },
  });
  return [
    pods.addHandler({
      added: enqueuePod,
      updated: (_before, after) => enqueuePod(after),
      deleted(last) {
        const extended = last.status?.extendedResourceClaimStatus?.resourceClaimName;
        release(last, 'pod', [...claimNamesOf(last), ...(extended === undefined ? [] : [extended])]);
      },
    }),
    claims.addHandler({ added: enqueueClaim, updated: (_before, after) => enqueueClaim(after), deleted: enqueueClaim }),
    templates.addHandler({ added: enqueueTemplateUsers, updated: (_before, after) => enqueueTemplateUsers(after) }),
    ...(groupHandler === undefined ? [] : [groupHandler]),
  ];
}
