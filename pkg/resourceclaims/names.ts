import type { Cached, Pod, PodGroup, PodResourceClaim } from '../api/index.ts';

/** An object that names claims in its spec. The claims that were made for it are in its status. */
export type ClaimUser = Cached<Pod> | Cached<PodGroup>;

/** A claim in the spec of a user: by name, or by the template that it is made from. */
export type ClaimEntry = Cached<PodResourceClaim>;

export type ClaimName =
  /** `isGenerated`: made from a template, so it counts only if it belongs to its user. */
  | { readonly kind: 'known'; readonly name: string; readonly isGenerated: boolean }
  | { readonly kind: 'not-created' }
  /** The status says that no claim is needed. */
  | { readonly kind: 'not-needed' }
  /** Neither a name nor a template: a field of a later version of the API may be set. */
  | { readonly kind: 'unsupported' };

export function claimEntriesOf({ spec }: ClaimUser): readonly ClaimEntry[] {
  return spec.resourceClaims ?? [];
}

export function claimNameOf({ status }: ClaimUser, entry: ClaimEntry): ClaimName {
  const { name, resourceClaimName, resourceClaimTemplateName } = entry;
  if (resourceClaimName !== undefined) return { kind: 'known', name: resourceClaimName, isGenerated: false };
  if (resourceClaimTemplateName === undefined) return { kind: 'unsupported' };
  const recorded = status?.resourceClaimStatuses?.find((each) => each.name === name);
  if (recorded === undefined) return { kind: 'not-created' };
  const generated = recorded.resourceClaimName;
  return generated === undefined ? { kind: 'not-needed' } : { kind: 'known', name: generated, isGenerated: true };
}

/** The names of the claims that are known, each once. */
export function claimNamesOf(user: ClaimUser): string[] {
  const names = claimEntriesOf(user).flatMap((entry) => {
    const claim = claimNameOf(user, entry);
    return claim.kind === 'known' ? [claim.name] : [];
  });
  return [...new Set(names)];
}

export function claimTemplatesOf(user: ClaimUser): string[] {
  return [...new Set(claimEntriesOf(user).flatMap((entry) => entry.resourceClaimTemplateName ?? []))];
}
