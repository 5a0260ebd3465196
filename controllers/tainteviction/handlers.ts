import { isEqualJson, keyOf, type Cached, type Node, type ObjectKey, type Pod } from '../../pkg/api/index.ts';
import type { KeySink } from '../../pkg/controller/index.ts';
import type { Handler } from '../../informers/index.ts';
import { noExecuteTaints } from '../../pkg/taints/index.ts';

export interface PodLookups {
  nodeOf(pod: Cached<Pod>): Cached<Node> | undefined;
  hasEviction(pod: ObjectKey): boolean;
}

/**
 * Enqueues the pods of tainted nodes. The node enqueues its pods itself when it gets its first taint, or when it appears
 * after its pods.
 */
export function enqueuePodOfTaintedNode(queue: KeySink, { nodeOf, hasEviction }: PodLookups): Handler<Pod> {
  const enqueueIfTainted = (pod: Cached<Pod>): void => {
    const node = nodeOf(pod);
    if (node !== undefined && noExecuteTaints(node).length > 0) queue.add(keyOf(pod));
  };
  return {
    added: enqueueIfTainted,
    updated({ spec: before }, after) {
      const { nodeName, tolerations } = after.spec;
      if (before.nodeName !== nodeName || !isEqualJson(before.tolerations, tolerations)) enqueueIfTainted(after);
    },
    deleted(last) {
      if (hasEviction(keyOf(last))) queue.add(keyOf(last));
    },
  };
}

export function enqueueOnTaintChange(queue: KeySink): Handler<Node> {
  return {
    added: (node) => queue.add(keyOf(node)),
    updated(before, after) {
      if (!isEqualJson(noExecuteTaints(before), noExecuteTaints(after))) queue.add(keyOf(after));
    },
  };
}
