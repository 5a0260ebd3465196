import {
  apiVersionOf,
  copyOf,
  ResourceClaims,
  setOwn,
  type Cached,
  type Kind,
  type ResourceClaim,
  type ResourceClaimSpec,
  type ResourceClaimTemplate,
  type Unsaved,
} from '../../pkg/api/index.ts';
import type { ClaimUser } from '../../pkg/resourceclaims/index.ts';

/** Names the entry of a generated claim in the spec of its user. */
export const entryAnnotation = 'resource.kubernetes.io/pod-claim-name';

/** A name has 63 characters, five of which are random, after a hyphen. */
const maxBaseLength = 57;

/** Both names are cut in proportion: the server would cut at the end, and nothing would be left of the entry's name. */
export function generateNameFor(userName: string, entryName: string): string {
  const whole = `${userName}-${entryName}-`;
  if (whole.length <= maxBaseLength) return whole;
  const cut = (part: string): string => part.slice(0, Math.floor((part.length * maxBaseLength) / whole.length));
  return `${cut(userName)}-${cut(entryName)}`;
}

export function claimFromTemplate(
  template: Cached<ResourceClaimTemplate>,
  user: ClaimUser,
  kind: Kind,
  entryName: string,
): Unsaved<ResourceClaim> {
  const { metadata, spec } = template.spec;
  const annotations = copyOf<Record<string, string>>(metadata?.annotations ?? {});
  setOwn(annotations, entryAnnotation, entryName);
  const { name, namespace, uid } = user.metadata;
  return {
    apiVersion: apiVersionOf(ResourceClaims),
    kind: ResourceClaims.kind,
    metadata: {
      generateName: generateNameFor(name, entryName),
      namespace,
      labels: metadata?.labels && copyOf<Record<string, string>>(metadata.labels),
      annotations,
      ownerReferences: [{ apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true }],
    },
    spec: copyOf<ResourceClaimSpec>(spec),
  };
}

/** Alternatives do not have admin access. */
export function hasAdminAccess({ devices }: Cached<ResourceClaimSpec>): boolean {
  return (devices?.requests ?? []).some(({ exactly }) => exactly?.adminAccess === true);
}

export function hasAlternatives({ devices }: Cached<ResourceClaimSpec>): boolean {
  return (devices?.requests ?? []).some(({ firstAvailable }) => (firstAvailable ?? []).length > 0);
}
