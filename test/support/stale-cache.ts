import type { Kind, KubeObject, Unsaved } from '../../pkg/api/index.ts';
import type { TestContext } from './controller-context.ts';
import { RecordingClient } from './recording-client.ts';

/** A resource version that no test reaches. */
const neverObserved = '1000000';

/**
 * A context in which the cache of one kind never observes the objects that the controller creates: their resource
 * versions are ahead of every watch. Only the given gates are on.
 */
export function withStaleCache(base: TestContext, stale: Kind, gates: readonly string[]): TestContext {
  class StaleClient extends RecordingClient {
    override async create<T extends KubeObject>(kind: Kind<T>, object: Unsaved<T>, signal: AbortSignal): Promise<T> {
      const created = await super.create(kind, object, signal);
      if (kind.resource !== stale.resource) return created;
      return { ...created, metadata: { ...created.metadata, resourceVersion: neverObserved } };
    }
  }
  const client = new StaleClient({ sharing: base.server });
  const enabled = new Set(gates);
  const context = {
    ...base.context,
    clientFor: () => client,
    gates: { isEnabled: (gate: string) => enabled.has(gate) },
  };
  return { ...base, client, context };
}

/** The series of a counter, as they are exposed, with values above 0. */
export async function countedBy(counter: string, { context }: TestContext): Promise<string[]> {
  const lines = (await context.metrics.metrics()).split('\n');
  return lines
    .filter((line) => line.startsWith(`${counter}{`) && !line.endsWith(' 0'))
    .map((line) => line.replace(/ \d+$/, ''));
}
