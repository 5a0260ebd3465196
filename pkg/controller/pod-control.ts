import {
  apiVersionOf,
  controllerReference,
  copyOf,
  keyOf,
  metadataOf,
  objectKey,
  Pods,
  type Cached,
  type Kind,
  type KubeObject,
  type MetadataOnly,
  type Pod,
  type PodTemplateSpec,
  type Unsaved,
} from '../api/index.ts';
import {
  AttemptError,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  serverMessage,
  type Client,
} from '../client/index.ts';
import type { EventRecorder } from '../events/index.ts';

/** Creates and deletes pods for one owner, and records events on that owner. */
export interface PodControl<Owner extends KubeObject> {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly ownerKind: Kind<Owner>;
}

/** A pod from the template, controlled by `owner`. The server generates its name. */
export function podFromTemplate(
  template: Cached<PodTemplateSpec>,
  kind: Kind,
  owner: Cached<KubeObject>,
): Unsaved<Pod> {
  const { labels, annotations, finalizers } = copyOf<PodTemplateSpec>(template).metadata ?? {};
  const spec = copyOf<PodTemplateSpec>(template).spec ?? { containers: [] };
  return {
    apiVersion: apiVersionOf(Pods),
    kind: Pods.kind,
    metadata: {
      generateName: podNamePrefix(owner.metadata.name),
      namespace: owner.metadata.namespace,
      labels,
      annotations,
      finalizers,
      ownerReferences: [controllerReference(kind, owner)],
    },
    spec,
  };
}

/** `<owner>-`, without the dash if it would make the prefix longer than a name may be. */
function podNamePrefix(ownerName: string): string {
  const withDash = `${ownerName}-`;
  return withDash.length <= maxNameLength ? withDash : ownerName;
}

const maxNameLength = 253;

export async function createPod<Owner extends KubeObject>(
  control: PodControl<Owner>,
  owner: Cached<Owner>,
  pod: Unsaved<Pod>,
  signal: AbortSignal,
): Promise<MetadataOnly> {
  const { client, recorder, ownerKind } = control;
  try {
    const created = await client.create(metadataOf(Pods), pod, signal);
    recorder.event(ownerKind, owner, {
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Created pod: ${created.metadata.name}`,
    });
    return created;
  } catch (error) {
    // A terminating namespace accepts no new pods: that is expected, and not worth an event.
    if (!signal.aborted && !isNamespaceTerminating(error)) {
      recorder.event(ownerKind, owner, {
        type: 'Warning',
        reason: 'FailedCreate',
        message: `Error creating: ${serverMessage(error)}`,
      });
    }
    throw error;
  }
}

/** Deletes the pod with this uid, never another pod of the same name. False if it was already gone. */
export async function deletePod<Owner extends KubeObject>(
  control: PodControl<Owner>,
  owner: Cached<Owner>,
  pod: Cached<Pod>,
  signal: AbortSignal,
): Promise<boolean> {
  const { client, recorder, ownerKind } = control;
  const { namespace, name, uid } = pod.metadata;
  try {
    await client.delete(Pods, objectKey(namespace, name), { preconditions: { uid } }, signal);
    recorder.event(ownerKind, owner, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    // A conflict may mean that another pod has the name, or that the API server could not complete the request. The next
    // sync decides on a newer cache, so there is no event.
    if (!signal.aborted && !isConflict(error)) {
      recorder.event(ownerKind, owner, {
        type: 'Warning',
        reason: 'FailedDelete',
        message: `Error deleting: ${serverMessage(error)}`,
      });
    }
    throw new AttemptError(`delete pod ${keyOf(pod)}`, error);
  }
}
