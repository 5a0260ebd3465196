import {
  isBeingDeleted,
  isControlledBy,
  keyOf,
  ownValue,
  type Cached,
  type Kind,
  type Pod,
  type PodGroup,
  type ResourceClaim,
  type ResourceClaimConsumer,
  type ResourceClaimTemplate,
  type Unsaved,
} from '../../pkg/api/index.ts';
import {
  bindingOf,
  claimEntriesOf,
  claimNameOf,
  isForPod,
  isReservedForPod,
  unsupportedEntry,
  type ClaimEntry,
  type ClaimUser,
} from '../../pkg/resourceclaims/index.ts';
import { claimFromTemplate, entryAnnotation, hasAlternatives } from './new-claim.ts';

/** What the caches say about the claims of a user. */
export interface UserView {
  readonly kind: Kind<Pod> | Kind<PodGroup>;
  /** The claim of this name, in the namespace of the user. */
  claimOf(name: string): Cached<ResourceClaim> | undefined;
  templateOf(name: string): Cached<ResourceClaimTemplate> | undefined;
  /** The claims that were made for this pod or group. */
  claimsMadeFor(owner: ClaimUser): readonly Cached<ResourceClaim>[];
  /** The group of a pod, if it has one and groups have claims. */
  readonly group?: Cached<PodGroup> | undefined;
  /** The gate DRAWorkloadResourceClaims. */
  readonly acceptsGroups: boolean;
  /** The gate DRAPrioritizedList. */
  readonly allowsAlternatives: boolean;
}

export type UserStep =
  /** The claim exists: it was recorded before, or its record was lost. */
  | { readonly kind: 'record'; readonly entry: string; readonly claimName: string; readonly isNew: boolean }
  | { readonly kind: 'create'; readonly entry: string; readonly claim: Unsaved<ResourceClaim> }
  /** Nothing is recorded, and the later entries wait. */
  | { readonly kind: 'fail'; readonly entry: string; readonly problem: string };

/** The steps for the entries of a pod or group, in their order. */
export function planUser(user: ClaimUser, view: UserView): UserStep[] {
  const steps: UserStep[] = [];
  for (const entry of claimEntriesOf(user)) {
    const step = planEntry(user, entry, view);
    if (step !== undefined) steps.push(step);
    if (step?.kind === 'fail') break;
  }
  return steps;
}

function planEntry(user: ClaimUser, entry: ClaimEntry, view: UserView): UserStep | undefined {
  const name = claimNameOf(user, entry);
  const fail = (problem: string): UserStep => ({ kind: 'fail', entry: entry.name, problem });
  if (name.kind === 'not-needed') return undefined;
  if (name.kind === 'unsupported') return fail(describeUnsupported(user, entry, view.kind));
  if (name.kind === 'known') {
    const claim = view.claimOf(name.name);
    const isUsable = claim !== undefined && (!name.isGenerated || isForUser(user, claim, view));
    if (isUsable && name.isGenerated) return { kind: 'record', entry: entry.name, claimName: name.name, isNew: false };
    if (isUsable) return undefined;
  }
  if (entry.resourceClaimTemplateName === undefined) return undefined; // users create it
  const binding = isPod(user) ? bindingOf(user, view.group, entry) : undefined;
  if (binding?.kind === 'unknown') return fail(binding.problem);
  const isOfGroup = binding?.kind === 'group' && view.group !== undefined;
  const owner = isOfGroup ? view.group : user;
  const made = view.claimsMadeFor(owner).find((claim) => entryOf(claim) === entry.name);
  if (made !== undefined) {
    return { kind: 'record', entry: entry.name, claimName: made.metadata.name, isNew: true };
  }
  return isOfGroup ? undefined : planCreation(user, entry, view);
}

function planCreation(user: ClaimUser, entry: ClaimEntry, view: UserView): UserStep {
  const fail = (problem: string): UserStep => ({ kind: 'fail', entry: entry.name, problem });
  const templateName = entry.resourceClaimTemplateName ?? '';
  const template = view.templateOf(templateName);
  if (template === undefined) {
    const absent = `resourceclaimtemplate.resource.k8s.io ${JSON.stringify(templateName)} not found`;
    return fail(`resource claim template ${JSON.stringify(templateName)}: ${absent}`);
  }
  if (!view.allowsAlternatives && hasAlternatives(template.spec.spec)) {
    return fail('template includes a prioritized list of subrequests, but the feature is disabled');
  }
  return { kind: 'create', entry: entry.name, claim: claimFromTemplate(template, user, view.kind, entry.name) };
}

export function isPod(user: ClaimUser): user is Cached<Pod> {
  return 'containers' in user.spec;
}

function isForUser(user: ClaimUser, claim: Cached<ResourceClaim>, { acceptsGroups }: UserView): boolean {
  return isPod(user) ? isForPod(user, claim, { acceptsGroups }) : isControlledBy(claim, user);
}

export function entryOf({ metadata }: Pick<Cached<ResourceClaim>, 'metadata'>): string | undefined {
  return ownValue(metadata.annotations ?? {}, entryAnnotation);
}

function describeUnsupported(user: ClaimUser, { name }: ClaimEntry, { kind }: Kind): string {
  const subject = isPod(user) ? `pod "${keyOf(user)}"` : `${kind} ${keyOf(user)}`;
  const entry = isPod(user) ? JSON.stringify(name) : name;
  return `checking for claim before creating it: ${subject}, spec.resourceClaim ${entry}: ${unsupportedEntry}`;
}

export interface Reservation {
  readonly claim: Cached<ResourceClaim>;
  readonly consumer: ResourceClaimConsumer;
}

/**
 * The claims to reserve for a pod that was bound to a node without a scheduler that does so. A claim that is missing
 * makes the later ones wait. Nothing can be reserved in a claim that is being deleted.
 */
export function planReservations(pod: Cached<Pod>, view: UserView): Reservation[] {
  const reservations: Reservation[] = [];
  if ((pod.spec.nodeName ?? '') === '') return reservations;
  for (const entry of claimEntriesOf(pod)) {
    const name = claimNameOf(pod, entry);
    if (name.kind === 'not-needed') continue;
    const claim = name.kind === 'known' ? view.claimOf(name.name) : undefined;
    if (claim === undefined || (name.kind === 'known' && name.isGenerated && !isForPod(pod, claim, view))) break;
    if (!isReservable(pod, claim, view)) continue;
    const binding = bindingOf(pod, view.group, entry);
    if (binding.kind === 'unknown') break;
    reservations.push({ claim, consumer: binding.consumer });
  }
  return reservations;
}

function isReservable(pod: Cached<Pod>, claim: Cached<ResourceClaim>, view: Pick<UserView, 'acceptsGroups'>): boolean {
  const isFree = claim.status?.allocation !== undefined && !isBeingDeleted(claim.metadata);
  return isFree && !isReservedForPod(pod, claim, view);
}
