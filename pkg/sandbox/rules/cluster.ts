import { copyOf, type Namespace, type Node } from '../../api/index.ts';
import { labelProblem } from './names.ts';
import { defineRules } from './rules.ts';

export const namespaceRules = defineRules<Namespace>({
  nameProblem: labelProblem,
  defaults(namespace) {
    namespace.metadata.labels = {
      ...namespace.metadata.labels,
      'kubernetes.io/metadata.name': namespace.metadata.name,
    };
  },
  beforeCreate(namespace) {
    namespace.spec ??= {};
    namespace.spec.finalizers = [...new Set([...(namespace.spec.finalizers ?? []), 'kubernetes'])];
    namespace.status = { phase: 'Active' };
  },
  beforeUpdate(namespace, old) {
    namespace.spec = copyOf(old.spec); // only the finalize subresource removes finalizers
  },
});

export const nodeRules = defineRules<Node>({
  keepsStatusOnCreate: true,
  defaults({ status }) {
    if (status?.capacity !== undefined) status.allocatable ??= { ...status.capacity };
  },
  beforeCreate({ spec }) {
    // The TaintNodesByCondition admission plugin: no pods until the node lifecycle controller has observed the node as
    // ready.
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
    const isThere = (spec.taints ?? []).some(({ key, effect }) => key === taint.key && effect === taint.effect);
    if (!isThere) spec.taints = [...(spec.taints ?? []), taint];
  },
});
