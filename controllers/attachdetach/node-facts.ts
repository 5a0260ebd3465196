import { isConditionTrue, objectKey, type Cached, type Node } from '../../pkg/api/index.ts';
import { nodeTaints } from '../../pkg/taints/index.ts';
import type { Store } from '../../informers/index.ts';
import type { NodeFacts } from './plan.ts';

/** The kubelet leaves it to this controller to attach. */
const managedAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach';

export function isManagedNode({ metadata }: Cached<Node>): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, managedAnnotation);
}

export function isHealthy({ status }: Cached<Node>): boolean {
  return isConditionTrue(status?.conditions, 'Ready');
}

export function isOutOfService({ spec }: Cached<Node>): boolean {
  return (spec.taints ?? []).some(({ key }) => key === nodeTaints.outOfService);
}

/** Reads nodes, and remembers of deleted ones which volumes they used. */
export class NodeReader {
  readonly #store: Pick<Store<Node>, 'get'>;
  readonly #lastUse = new Map<string, ReadonlySet<string>>();

  constructor(store: Pick<Store<Node>, 'get'>) {
    this.#store = store;
  }

  deleted({ metadata, status }: Cached<Node>): void {
    this.#lastUse.set(metadata.name, new Set(status?.volumesInUse ?? []));
  }

  forget(nodeName: string): void {
    this.#lastUse.delete(nodeName);
  }

  factsOf(nodeName: string, volumeName: string): NodeFacts {
    const node = this.#store.get(objectKey(undefined, nodeName));
    if (node === undefined) {
      // Of a node that was gone before this process started, nobody knows: its kubelet may still be there.
      const isInUse = this.#lastUse.get(nodeName)?.has(volumeName) ?? true;
      return { isMissing: true, isHealthy: false, isOutOfService: false, isInUse };
    }
    return {
      isMissing: false,
      isHealthy: isHealthy(node),
      isOutOfService: isOutOfService(node),
      isInUse: (node.status?.volumesInUse ?? []).includes(volumeName),
    };
  }
}
