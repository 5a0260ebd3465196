import * as z from 'zod';
import { baseOf, leftOut, pacifiers, weightOf } from './bases.ts';
import { createChoose, isOneOf, type Choose } from './choose.ts';
import { complete, mend } from './mend.ts';
import { apiVersionOf, idOf, pathOf, type ServedKind } from './schema.ts';
import type { Answer, Sender } from './sender.ts';
import { disturb, hostileValue, isRecord, plainValue, put, type Owner, type Surroundings } from './values.ts';
import { readKnownKeys } from './vocabulary.ts';

const storedObject = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    uid: z.string(),
    finalizers: z.array(z.string()).nullish(),
  }),
});
type StoredObject = z.output<typeof storedObject>;
const storedList = z.object({ items: z.array(storedObject).nullable() });

export interface StrangerOptions {
  readonly sender: Sender;
  readonly kinds: readonly ServedKind[];
  readonly seed: number;
}

/** The share of each action. It creates if there is no object to change yet. */
const shares = { create: 2, status: 5, update: 3, delete: 1 };
/** How often a refused object is repaired before it is dropped. */
const MENDINGS = 15;
/** Two billion replicas are legal; this keeps controllers from creating them. */
const bound = { name: 'bound', hard: { pods: '80', 'count/jobs.batch': '80', 'count/replicasets.apps': '80' } };
/**
 * A malicious user with all permissions: creates objects of every kind, changes them and the objects of controllers,
 * writes wrong statuses, and deletes. All of it is legal: the server has accepted it.
 */
export class Stranger {
  readonly #sender: Sender;
  readonly #kinds: readonly ServedKind[];
  readonly #seed: number;
  readonly #bases = new Map<ServedKind, object>();
  readonly #knownKeys = readKnownKeys();
  readonly #clusterWide = new Map<string, ServedKind>();
  #owners: Owner[] = [];
  #nodes: string[] = [];
  #namespaces: readonly string[] = [];
  #steps = 0;
  /** Accepted writes, by action; and the number of dropped ones. */
  readonly counts = { created: 0, updated: 0, statusWritten: 0, deleted: 0, givenUp: 0 };
  readonly createdByKind = new Map<string, number>();

  constructor({ sender, kinds, seed }: StrangerOptions) {
    this.#sender = sender;
    this.#kinds = kinds.filter((kind) => !isOneOf(idOf(kind), leftOut));
    this.#seed = seed;
  }

  /** Finds a legal base object for each kind. Returns the kinds without one. */
  async learn(namespace: string): Promise<readonly string[]> {
    const unknown: string[] = [];
    for (const kind of this.#kinds) {
      const base = await this.#learnBase(kind, namespace);
      if (base === undefined) unknown.push(idOf(kind));
      else this.#bases.set(kind, base);
    }
    return unknown;
  }

  async #learnBase(kind: ServedKind, namespace: string): Promise<object | undefined> {
    const object = baseOf(kind) ?? plainValue('', kind.type);
    if (!isRecord(object)) return undefined;
    put(object, 'apiVersion', apiVersionOf(kind));
    put(object, 'kind', kind.kind);
    put(object, 'metadata', { ...(isRecord(object['metadata']) ? object['metadata'] : {}), name: 'learned' });
    for (let attempt = 0; attempt < MENDINGS; attempt++) {
      const { status, body } = await this.#sender.send('POST', `${pathOf(kind, namespace)}?dryRun=All`, object);
      if (status === 201) return object;
      if (!complete(object, kind.type, body)) return undefined;
    }
    return undefined;
  }

  /** Uses new namespaces from now on. In the last one, quotas may prevent pods. */
  async moveIn(prefix: string): Promise<void> {
    this.#namespaces = Array.from({ length: 3 }, (_, index) => `${prefix}-${index}`);
    for (const namespace of this.#namespaces) {
      await this.#sender.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
      const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
      const { body } = await this.#sender.send('POST', path, {
        metadata: { name: bound.name },
        spec: { hard: bound.hard },
      });
      // Admission counts in the status. It would refuse everything until a controller has set it.
      const used = Object.fromEntries(Object.keys(bound.hard).map((name) => [name, '0']));
      const counted = { ...storedObject.parse(body), status: { hard: bound.hard, used } };
      await this.#sender.send('PUT', `${path}/${bound.name}/status`, counted);
    }
  }

  /** One hostile action: a create, or a change of an existing object. */
  async act(): Promise<void> {
    const choose = createChoose(Math.imul(this.#seed, 1_000_003) + this.#steps++);
    const deed = choose.weighted(['create', 'status', 'update', 'delete'] as const, (name) => shares[name]);
    if (deed === 'create') return this.#create(choose);
    const kinds = [...this.#bases.keys()].filter((kind) => deed !== 'status' || kind.hasStatus);
    const kind = choose.weighted(kinds, weightOf);
    const object = await this.#find(kind, choose);
    if (object === undefined) return this.#create(choose);
    if (deed === 'delete') return this.#delete(kind, object, choose);
    return deed === 'status' ? this.#writeStatus(kind, object, choose) : this.#update(kind, object, choose);
  }

  get #around(): Surroundings {
    return { owners: this.#owners, nodes: this.#nodes, knownKeys: this.#knownKeys, nowMs: Date.now() };
  }

  async #create(choose: Choose): Promise<void> {
    const kind = choose.weighted([...this.#bases.keys()], weightOf);
    const namespace = this.#namespaceFor(kind, choose);
    const base = structuredClone(this.#bases.get(kind) ?? {});
    const name = `h${this.#steps}`;
    const metadata = { ...(isRecord(base) && isRecord(base['metadata']) ? base['metadata'] : {}), name };
    put(base, 'metadata', metadata);
    const object = structuredClone(base);
    if (isRecord(object) && isRecord(object['metadata']))
      object['metadata']['name'] = this.#nameFor(kind, name, choose);
    for (let left = 1 + choose.below(10); left > 0; left--) disturb(object, kind.type, choose, this.#around);
    const answer = await this.#sendMended({ method: 'POST', path: pathOf(kind, namespace), object, base }, choose);
    if (answer?.status !== 201) return;
    this.#remember(kind, storedObject.parse(answer.body));
    this.counts.created++;
    this.createdByKind.set(idOf(kind), (this.createdByKind.get(idOf(kind)) ?? 0) + 1);
  }

  #namespaceFor(kind: ServedKind, choose: Choose): string {
    if (idOf(kind) === 'Lease.coordination.k8s.io' && choose.chance(0.6)) return 'kube-node-lease';
    if (isOneOf(idOf(kind), pacifiers)) return this.#namespaces.at(-1) ?? '';
    return choose.from(this.#namespaces);
  }

  #nameFor(kind: ServedKind, name: string, choose: Choose): string {
    if (idOf(kind) === 'Lease.coordination.k8s.io' && this.#nodes.length > 0) return choose.from(this.#nodes);
    const ordinary = choose.chance(0.75);
    return ordinary
      ? name
      : choose.from(['constructor', '🎈', `${name}.constructor`, name.padEnd(63, 'x'), name.padEnd(253, 'x')]);
  }

  #remember(kind: ServedKind, { metadata }: StoredObject): void {
    this.#owners = [...this.#owners.slice(-60), referenceTo(kind, metadata)];
    if (idOf(kind) === 'Node') this.#nodes = [...this.#nodes.slice(-10), metadata.name];
    const isElsewhere = metadata.namespace === undefined || metadata.namespace === 'kube-node-lease';
    if (isElsewhere) this.#clusterWide.set(itemPath(kind, { metadata }), kind);
  }

  async #find(kind: ServedKind, choose: Choose): Promise<StoredObject | undefined> {
    if (kind.namespaced) {
      const all = await this.#list(`${pathOf(kind, choose.from(this.#namespaces))}?limit=40`);
      const items = all.filter(({ metadata }) => metadata.name !== bound.name);
      return items.length === 0 ? undefined : choose.from(items);
    }
    const paths = [...this.#clusterWide].filter(([, of]) => of === kind).map(([path]) => path);
    if (paths.length === 0) return undefined;
    const { status, body } = await this.#sender.send('GET', choose.from(paths));
    return status === 200 ? storedObject.parse(body) : undefined;
  }

  async #list(path: string): Promise<readonly StoredObject[]> {
    const { status, body } = await this.#sender.send('GET', path);
    return status === 200 ? (storedList.parse(body).items ?? []) : [];
  }

  async #update(kind: ServedKind, base: StoredObject, choose: Choose): Promise<void> {
    const object = structuredClone(base);
    for (let left = 1 + choose.below(6); left > 0; left--) disturb(object, kind.type, choose, this.#around);
    if (choose.chance(0.1))
      put(object.metadata, 'ownerReferences', [
        { ...referenceTo(kind, base.metadata), controller: true, blockOwnerDeletion: true },
      ]);
    const answer = await this.#sendMended({ method: 'PUT', path: itemPath(kind, base), object, base }, choose);
    if (answer?.status === 200) this.counts.updated++;
  }

  async #writeStatus(kind: ServedKind, base: StoredObject, choose: Choose): Promise<void> {
    const read = kind.type.kind === 'object' ? kind.type.fields.get('status') : undefined;
    const object = structuredClone(base);
    const type = read?.() ?? { kind: 'anything' };
    const fresh = hostileValue({ name: 'status', type }, choose, this.#around);
    const before = object['status'];
    put(object, 'status', isRecord(before) && isRecord(fresh) && choose.chance(0.5) ? { ...before, ...fresh } : fresh);
    const answer = await this.#sendMended(
      { method: 'PUT', path: `${itemPath(kind, base)}/status`, object, base },
      choose,
    );
    if (answer?.status === 200) this.counts.statusWritten++;
  }

  async #delete(kind: ServedKind, object: StoredObject, choose: Choose): Promise<void> {
    const options = {
      propagationPolicy: choose.from(['Orphan', 'Background', 'Foreground', null]),
      gracePeriodSeconds: choose.from([0, 1, null, 9223372036854775807n]),
    };
    const { status } = await this.#sender.send('DELETE', itemPath(kind, object), options);
    if (status === 200 || status === 202) this.counts.deleted++;
  }

  /** Repeats the request until the server accepts it, repairing what it refuses. Undefined if it never does. */
  async #sendMended(
    write: { readonly method: string; readonly path: string; readonly object: object; readonly base: object },
    choose: Choose,
  ): Promise<Answer | undefined> {
    const { method, path, object, base } = write;
    for (let attempt = 0; attempt < MENDINGS; attempt++) {
      const answer = await this.#sender.send(method, path, object);
      if (answer.status < 300) return answer;
      const isMendable = answer.status === 400 || answer.status === 422 || answer.status === 403;
      if (!isMendable || !mend({ object, base, answer: answer.body }, choose)) break;
    }
    this.counts.givenUp++;
    return undefined;
  }

  /** Cleans up: deletes the namespaces, removes finalizers, and waits until they are gone. */
  async leave(signal: AbortSignal): Promise<void> {
    const left = new Set(this.#namespaces.map((namespace) => `/api/v1/namespaces/${namespace}`));
    for (const path of left) await this.#sender.send('DELETE', path);
    for (const path of this.#clusterWide.keys()) left.add(path);
    this.#clusterWide.clear();
    while (left.size > 0) {
      signal.throwIfAborted();
      for (const kind of this.#kinds.filter(({ namespaced }) => namespaced)) {
        for (const namespace of this.#namespaces) await this.#release(kind, namespace);
      }
      for (const path of left) if (await this.#remove(path)) left.delete(path);
    }
    this.#owners = [];
    this.#nodes = [];
  }

  /** Removes finalizers, which no controller may handle, and ends pods, for which there is no kubelet. */
  async #release(kind: ServedKind, namespace: string): Promise<void> {
    for (const object of await this.#list(pathOf(kind, namespace))) {
      await this.#unlock(itemPath(kind, object), object);
      if (kind.kind === 'Pod') await this.#sender.send('DELETE', itemPath(kind, object), { gracePeriodSeconds: 0 });
    }
  }

  async #unlock(path: string, object: StoredObject): Promise<void> {
    if ((object.metadata.finalizers ?? []).length === 0) return;
    const { status, body } = await this.#sender.send('PATCH', path, { metadata: { finalizers: null } });
    const isDone = status < 300 || status === 404 || status === 409;
    if (!isDone) throw new Error(`remove the finalizers of ${path}: ${status} ${JSON.stringify(body)}`);
  }

  /** True if it is deleted. */
  async #remove(path: string): Promise<boolean> {
    const { status, body } = await this.#sender.send('GET', path);
    if (status === 404) return true;
    if (status !== 200) throw new Error(`get ${path}: ${status} ${JSON.stringify(body)}`);
    const object = storedObject.parse(body);
    await this.#unlock(path, object);
    const spec = object['spec'];
    if (path.startsWith('/api/v1/namespaces/') && !path.includes('/', 19) && isRecord(spec)) {
      const finalizers = spec['finalizers'];
      const own = Array.isArray(finalizers) ? finalizers.filter((name) => name === 'kubernetes') : [];
      const isHeld = Array.isArray(finalizers) && finalizers.length > own.length;
      if (isHeld) await this.#sender.send('PUT', `${path}/finalize`, { ...object, spec: { ...spec, finalizers: own } });
    }
    await this.#sender.send('DELETE', path, { gracePeriodSeconds: 0 });
    return false;
  }
}

function itemPath(kind: ServedKind, { metadata }: StoredObject): string {
  return `${pathOf(kind, metadata.namespace)}/${encodeURIComponent(metadata.name)}`;
}

function referenceTo(kind: ServedKind, { name, uid }: StoredObject['metadata']): Owner {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid };
}
