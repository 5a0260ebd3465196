import { metadataOf, Nodes, type ObjectKey } from '../../pkg/api/index.ts';
import { isNotFound } from '../../pkg/client/index.ts';
import {
  enqueueSelf,
  runWorkers,
  type Controller,
  type ControllerContext,
  type ReconcileResult,
} from '../../pkg/controller/index.ts';
import { nextStep, ttlSecondsOf } from './cluster-size.ts';

const name = 'ttl-controller';
const ttlAnnotation = 'node.alpha.kubernetes.io/ttl';

/** Not a flag of the Go binary either: enough to keep up with the largest clusters. */
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
    if (node.metadata.annotations?.[ttlAnnotation] === ttl) return {};
    const body = { metadata: { uid: node.metadata.uid, annotations: { [ttlAnnotation]: ttl } } };
    try {
      await client.patch(metadataOf(Nodes), key, { type: 'strategic', body }, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return {};
  }

  const work = { name, context, queue, reconcile, caches: [nodes, nodeHandlers], workers };
  return { name, run: (signal) => runWorkers(work, signal) };
}
