import { Nodes, type ObjectKey } from '../../pkg/api/index.ts';
import {
  enqueueSelf,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { annotateTtl, ttlAnnotation } from './apply.ts';
import { nextStep, ttlSecondsOf } from './cluster-size.ts';

const name = 'ttl-controller';

/** The Go binary has no flag for this either. It is enough for the largest clusters. */
const workers = 5;

export function createNodeTtlController(context: ControllerContext): Controller {
  const client = context.clientFor(name);
  const queue = context.queueFor('ttlcontroller');
  const nodes = context.informers.informerFor(Nodes);
  const nodeHandlers = nodes.addHandler(enqueueSelf(queue));
  let step = 0;

  async function reconcile(key: ObjectKey, signal: AbortSignal): Promise<ReconcileResult> {
    const node = nodes.store.get(key);
    step = nextStep(step, nodes.store.size);
    if (node === undefined) return {};
    const ttl = String(ttlSecondsOf(step));
    if (node.metadata.annotations?.[ttlAnnotation] !== ttl) await annotateTtl(client, node, ttl, signal);
    return {};
  }

  const work = { name, context, queue, reconcile, caches: [nodes, nodeHandlers], workers };
  return { name, run: (signal) => runWorkers(work, signal) };
}
