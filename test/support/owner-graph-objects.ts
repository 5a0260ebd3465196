import { randomUUID } from 'node:crypto';

import {
  apiVersionOf,
  keyOf,
  metadataOf,
  type Kind,
  type ObjectKey,
  type OwnerReference,
} from '../../pkg/api/index.ts';
import { isNotFound, type Client } from '../../pkg/client/index.ts';
import { runBounded } from '../../pkg/controller/index.ts';
import { eventually } from './eventually.ts';
import type { DeletionMode, OwnershipModel, PlannedObject } from './owner-graphs.ts';

const concurrency = 16;

export interface GraphSettings {
  readonly client: Client;
  readonly namespace: string;
  /** The resources of the planned kinds. */
  readonly kinds: readonly Kind[];
  readonly graph: readonly PlannedObject[];
  /** The prefix of every name, for several graphs in one namespace. */
  readonly prefix: string;
}

/** A planned graph, as objects of a real server. */
export class GraphObjects {
  readonly #settings: GraphSettings;
  readonly #uids = new Map<number, string>();

  constructor(settings: GraphSettings) {
    this.#settings = settings;
  }

  /** Creates every object first, and then the references between them: there may be cycles. */
  async create(signal: AbortSignal): Promise<void> {
    const { client, graph } = this.#settings;
    const indexes = [...graph.keys()];
    await runBounded(concurrency, indexes, async (index) => {
      const { uid } = (await client.create(this.#kindOf(index), { metadata: this.#place(index) }, signal)).metadata;
      this.#uids.set(index, uid);
    });
    await runBounded(concurrency, indexes, async (index) => {
      const ownerReferences = (graph[index]?.owners ?? []).map(({ object, blocks }) => this.#reference(object, blocks));
      if (ownerReferences.length === 0) return;
      const body = { metadata: { ownerReferences } };
      try {
        await client.patch(metadataOf(this.#kindOf(index)), this.#key(index), { type: 'merge', body }, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error; // already collected, because an owner is absent
      }
    });
  }

  async untilSeen(signal: AbortSignal): Promise<void> {
    const { client, kinds, namespace } = this.#settings;
    await Promise.all(kinds.map((kind) => untilSeen(client, kind, namespace, signal)));
  }

  async delete(index: number, mode: DeletionMode, signal: AbortSignal): Promise<void> {
    try {
      await this.#settings.client.delete(this.#kindOf(index), this.#key(index), { propagationPolicy: mode }, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error; // collected already
    }
  }

  /** The objects with their owners, as text that is readable in a diff. */
  async state(signal: AbortSignal): Promise<string[]> {
    const { client, kinds, namespace } = this.#settings;
    const lists = await Promise.all(
      kinds.map((kind) => client.listAll(metadataOf(kind), kind.namespaced ? { namespace } : {}, signal)),
    );
    const indexOf = new Map([...this.#uids].map(([index, uid]) => [uid, index]));
    return lists
      .flatMap(({ items }) => items)
      .flatMap(({ metadata: { uid, ownerReferences = [], finalizers = [] } }) => {
        const index = indexOf.get(uid);
        if (index === undefined) return []; // from another graph
        const owners = ownerReferences.map((owner) => indexOf.get(owner.uid));
        return [describeObject(index, owners, finalizers)];
      })
      .sort();
  }

  /** The same, as predicted by the model. */
  expected({ survivors }: OwnershipModel): string[] {
    return [...survivors].map(([index, owners]) => describeObject(index, [...owners], [])).sort();
  }

  #kindOf(index: number): Kind {
    const kind = this.#settings.kinds[this.#settings.graph[index]?.kind ?? -1];
    if (kind === undefined) throw new Error(`no kind for object ${index}`);
    return kind;
  }

  #place(index: number): { name: string; namespace?: string } {
    const { namespace, prefix } = this.#settings;
    const name = `${prefix}-${index}`;
    return this.#kindOf(index).namespaced ? { name, namespace } : { name: `${namespace}-${name}` };
  }

  #key(index: number): ObjectKey {
    return keyOf({ metadata: this.#place(index) });
  }

  #reference(index: number | undefined, blockOwnerDeletion: boolean): OwnerReference {
    const kind = this.#kindOf(index ?? 0);
    const name = index === undefined ? 'nobody' : this.#place(index).name;
    const uid = this.#uids.get(index ?? -1) ?? randomUUID();
    return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, blockOwnerDeletion };
  }
}

function describeObject(index: number, owners: readonly (number | undefined)[], finalizers: readonly string[]): string {
  return `${index} of ${owners.map(String).sort().join(', ')} ${finalizers.join(', ')}`;
}

/**
 * Resolves when the garbage collector has observed all current objects of a kind: then it has collected an object that was
 * created after them. It can neither wait for nor orphan an object that it has not observed.
 */
export async function untilSeen(client: Client, kind: Kind, namespace: string, signal: AbortSignal): Promise<void> {
  const nobody = { metadata: { name: 'nobody', uid: randomUUID() } };
  const name = `canary-${randomUUID()}`;
  const metadata = { name, ...(kind.namespaced && { namespace }), ownerReferences: [referenceTo(kind, nobody)] };
  await client.create(kind, { metadata }, signal);
  await eventually(async () => !(await exists(client, kind, keyOf({ metadata }), signal)), signal);
}

/** A reference to an existing object, parts of which may be wrong on purpose. */
export function referenceTo(
  kind: Kind,
  owner: { readonly metadata: { readonly name: string; readonly uid: string } },
  changes: Partial<OwnerReference> = {},
): OwnerReference {
  const { name, uid } = owner.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, ...changes };
}

export async function exists(client: Client, kind: Kind, key: ObjectKey, signal: AbortSignal): Promise<boolean> {
  try {
    await client.get(metadataOf(kind), key, signal);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
