import { apiVersionOf, type Kind } from './kinds.ts';
import type { KubeObject, OwnerReference } from './objects.ts';
import type { Cached } from './cached.ts';

type Owned = { readonly metadata: { readonly ownerReferences?: readonly Cached<OwnerReference>[] | undefined } };

/** The owner reference with `controller: true`, if any. */
export function controllerOf(object: Owned): Cached<OwnerReference> | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

export function isControlledBy(
  object: Owned,
  owner: { readonly metadata: { readonly uid?: string | undefined } },
): boolean {
  const controller = controllerOf(object);
  return controller !== undefined && controller.uid === owner.metadata.uid;
}

/** The owner reference that names `owner` as the controller of an object. */
export function controllerReference<T extends KubeObject>(kind: Kind<T>, owner: Cached<KubeObject>): OwnerReference {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
