import { CoreEvents, type Kind, type KubeObject, Nodes } from '../../../pkg/api/index.ts';
import type { Client } from '../../../pkg/client/index.ts';
import { compareStates, dumped, type State } from '../compare-state.ts';
import { fieldsOf } from '../compare-symbols.ts';
import { countPatterns } from './faults.ts';

/** The result of a trial. */
export interface EndState {
  readonly state: State;
  /** The number of events by reason. */
  readonly events: ReadonlyMap<string, number>;
  /** Changes with every write to one of the objects. */
  readonly versions: string;
}

/** Every trial has its own name, which is replaced by this one in its state. */
const anyTrial = 'trial';

export async function readEndState(
  client: Client,
  { namespace, kinds }: { readonly namespace: string; readonly kinds: readonly Kind[] },
  signal: AbortSignal,
): Promise<EndState> {
  const list = async (kind: Kind): Promise<KubeObject[]> => {
    const { items } = await client.listAll(kind, kind.namespaced ? { namespace } : {}, signal);
    return kind.namespaced ? items : items.filter(({ metadata }) => metadata.name.startsWith(namespace));
  };
  const lists = await Promise.all(kinds.map(async (kind) => (await list(kind)).map((object) => ({ kind, object }))));
  const objects = lists.flat();
  return {
    versions: objects.map(({ object }) => `${object.metadata.uid} ${object.metadata.resourceVersion}`).join(),
    state: {
      namespace: anyTrial,
      objects: objects.map(({ kind, object }) => {
        const text = JSON.stringify(dumped(kind, object).object).replaceAll(namespace, anyTrial);
        return dumped(kind, JSON.parse(text) as KubeObject);
      }),
    },
    events: await countReasons(client, { namespace, kinds }, signal),
  };
}

async function countReasons(
  client: Client,
  { namespace, kinds }: { readonly namespace: string; readonly kinds: readonly Kind[] },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  // Events about nodes are in the namespace `default`.
  const namespaces = kinds.includes(Nodes) ? [namespace, 'default'] : [namespace];
  const counts = new Map<string, number>();
  for (const place of namespaces) {
    const { items } = await client.listAll(CoreEvents, { namespace: place }, signal);
    for (const { involvedObject, reason = '', count = 1 } of items) {
      if (place !== namespace && involvedObject.name?.startsWith(namespace) !== true) continue;
      counts.set(reason, (counts.get(reason) ?? 0) + count);
    }
  }
  return counts;
}

/** A fault may cause a few more writes than usual. More than this is a storm. */
const isStorm = (count: number, usual: number): boolean => count > 2 * usual + 5;

/** The relevant differences between a trial and the undisturbed run. */
export function compareEndStates(usual: EndState, trial: EndState, ignore: readonly string[]): string[] {
  return [
    ...compareStates(usual.state, trial.state, {
      names: ['undisturbed', 'disturbed'],
      // The number of steps is not part of the result.
      ignore: ['*:metadata.generation', '*observedGeneration', ...ignore],
    }),
    ...trial.state.objects
      .filter(({ object }) => isBehind(object))
      .map(({ kind, object }) => {
        return `${kind} ${object.metadata.name}: its latest generation is not observed`;
      }),
  ];
}

/** Writes and events that are far more than in the undisturbed run. */
export function findStorms(usual: Activity, trial: Activity): string[] {
  const counts = (writes: readonly string[]): ReadonlyMap<string, number> => new Map(countPatterns(writes));
  return [
    ...compareCounts('event', usual.end.events, trial.end.events),
    ...compareCounts('write', counts(usual.writes), counts(trial.writes)),
  ];
}

export interface Activity {
  readonly end: EndState;
  /** Patterns. */
  readonly writes: readonly string[];
}

function compareCounts(what: string, usual: ReadonlyMap<string, number>, trial: ReadonlyMap<string, number>): string[] {
  return [...trial]
    .filter(([name, count]) => isStorm(count, usual.get(name) ?? 0))
    .map(([name, count]) => `${what} storm: ${name} ${count} times, undisturbed ${usual.get(name) ?? 0} times`);
}

function isBehind(object: KubeObject & { readonly status?: unknown }): boolean {
  const { observedGeneration } = fieldsOf(object.status);
  return typeof observedGeneration === 'number' && observedGeneration < (object.metadata.generation ?? 0);
}
