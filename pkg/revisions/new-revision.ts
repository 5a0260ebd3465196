import {
  apiVersionOf,
  controllerReference,
  ControllerRevisions,
  copyOf,
  int64Field,
  RawJson,
  setOwn,
  type Cached,
  type ControllerRevision,
  type Kind,
  type Unsaved,
} from '../api/index.ts';
import { templatePatch, type Integers, type Revised } from './revision-data.ts';

/** The label of revisions and pods that identifies the revision. */
export const revisionHashLabel = 'controller-revision-hash';

export interface NewRevision<Owner extends Revised> {
  readonly kind: Kind<Owner>;
  readonly owner: Cached<Owner>;
  readonly revision: bigint;
  /** Undefined: the name never collided. 0 gives another hash. */
  readonly collisionCount: number | undefined;
  /** The label that holds the hash. */
  readonly hashLabel: string;
  /** Default: float64. */
  readonly integers?: Integers | undefined;
}

/** A revision of the owner's current template. It has the labels of the template and the annotations of the owner. */
export function newRevision<Owner extends Revised>(described: NewRevision<Owner>): Unsaved<ControllerRevision> {
  const { kind, revision, collisionCount, hashLabel } = described;
  const owner: Cached<Revised> = described.owner;
  const data = templatePatch(owner, described.integers);
  const hash = revisionHash(data, collisionCount);
  const labels = copyOf<Record<string, string>>(owner.spec.template.metadata?.labels ?? {});
  setOwn(labels, hashLabel, hash);
  const { namespace, annotations } = owner.metadata;
  return {
    apiVersion: apiVersionOf(ControllerRevisions),
    kind: ControllerRevisions.kind,
    metadata: {
      name: revisionName(owner.metadata.name, hash),
      namespace,
      labels,
      annotations: annotations === undefined ? undefined : copyOf<Record<string, string>>(annotations),
      ownerReferences: [controllerReference(kind, owner)],
    },
    data: new RawJson(data),
    revision: int64Field(revision),
  };
}

const longestPrefix = 223;

export function revisionName(ownerName: string, hash: string): string {
  return `${ownerName.slice(0, longestPrefix)}-${hash}`;
}

/** The hash that the Go binary computes for the revisions of StatefulSets: FNV-1 of the data. */
export function revisionHash(data: string, collisionCount: number | undefined): string {
  const sum = fnv1(data + (collisionCount === undefined ? '' : String(collisionCount)));
  return encodeSafely(sum);
}

/** No vowels, and no digits that look like letters, so that no hash spells a word. */
const safeChars = 'bcdfghjklmnpqrstvwxz2456789';

/** A hash as text for names, as the Go binary writes it. */
export function encodeSafely(hash: number): string {
  return String(hash).replaceAll(/\d/g, (digit) => safeChars.charAt(digit.charCodeAt(0) % safeChars.length));
}

function fnv1(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, 'utf8')) hash = Math.imul(hash, 0x01000193) ^ byte;
  return hash >>> 0;
}
