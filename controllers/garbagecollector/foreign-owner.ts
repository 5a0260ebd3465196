import type { EventRecorder } from '../../pkg/events/index.ts';
import type { GraphNode } from './graph-node.ts';
import { formatIdentity, type Reference } from './identity.ts';
import type { KnownKinds } from './live.ts';

/** Records an event: an owner in another namespace counts as absent, and an object without another owner is deleted. */
export function createForeignOwnerReport(
  recorder: EventRecorder,
  kinds: KnownKinds,
): (dependent: GraphNode, owner: Reference) => void {
  return (dependent, owner) => {
    const kind = kinds.find(dependent);
    if (kind === undefined) return;
    const { namespace, uid } = dependent;
    recorder.event(
      kind,
      { metadata: { name: dependent.name, namespace: namespace === '' ? undefined : namespace, uid } },
      {
        type: 'Warning',
        reason: 'OwnerRefInvalidNamespace',
        message: `ownerRef ${formatIdentity({ ...owner, namespace })} does not exist in namespace "${namespace}"`,
      },
    );
  };
}
