import { describe, expect, test } from 'vitest';

import {
  apiVersionOf,
  ClusterRoles,
  ConfigMaps,
  keyOf,
  metadataOf,
  Secrets,
  type Kind,
  type MetadataOnly,
  type OwnerReference,
} from '../../pkg/api/index.ts';
import type { WatchEvent } from '../../pkg/client/index.ts';
import { silentLogger } from '../../test/support/loggers.ts';
import { OwnershipModel, planGraph, type DeletionMode, type PlannedObject } from '../../test/support/owner-graphs.ts';
import { seededRandom } from '../../test/support/random.ts';
import { RecordingClient } from '../../test/support/recording-client.ts';
import { AbsentOwners } from './absent-owners.ts';
import { createCollector } from './collector.ts';
import type { ObjectType } from './graph-node.ts';
import { DependencyGraph } from './graph.ts';
import { KnownKinds } from './live.ts';

const kinds: readonly Kind[] = [ConfigMaps, Secrets, ClusterRoles];
const graphOptions = { kinds: kinds.length, clusterWideKind: 2 };
const never = new AbortController().signal;

interface Watch {
  readonly type: ObjectType;
  readonly backlog: WatchEvent<MetadataOnly>[];
}

/** Pending requests, watch events and queue items. */
class Schedule {
  readonly user = new RecordingClient();
  readonly #random: () => number;
  readonly #client = new RecordingClient({ sharing: this.user });
  readonly #calls: (() => void)[] = [];
  readonly #watches: Watch[];
  readonly #stop = new AbortController();
  readonly #deletions = new Set<string>();
  readonly #orphans = new Set<string>();
  readonly #running = new Set<string>();
  readonly #graph: DependencyGraph;
  readonly #pumps: Promise<void>[];
  readonly attempt: (queue: 'delete' | 'orphan', uid: string) => Promise<void>;

  constructor(random: () => number) {
    this.#random = random;
    this.#client.before('*', ({ verb }) =>
      verb === 'watch' ? undefined : new Promise<void>((resolve) => this.#calls.push(resolve)),
    );
    const absent = new AbsentOwners(5); // so few that it forgets
    const attemptDelete = (uid: string): void => void this.#deletions.add(uid);
    const graph = new DependencyGraph(absent, {
      attemptDelete,
      attemptOrphan: (uid) => this.#orphans.add(uid),
      foundForeignOwner: () => {},
    });
    this.#graph = graph;
    const known = new KnownKinds();
    known.replace(kinds.map((kind) => ({ kind, verbs: new Set<string>() })));
    const collector = createCollector({
      client: this.#client,
      graph,
      absent,
      kinds: known,
      logger: silentLogger,
      isGraphComplete: () => true,
      attemptDelete,
    });
    this.attempt = async (queue, uid) => {
      const waiting = queue === 'delete' ? this.#deletions : this.#orphans;
      const key = `${queue} ${uid}`;
      waiting.delete(uid);
      this.#running.add(key);
      try {
        const reconcile = queue === 'delete' ? collector.attemptDelete : collector.attemptOrphan;
        const { requeueAfterMs } = await reconcile(uid, never);
        if (requeueAfterMs !== undefined) waiting.add(uid);
      } catch {
        waiting.add(uid); // refused by the server, because of something newer: again
      } finally {
        this.#running.delete(key);
      }
    };
    this.#watches = kinds.map((kind) => ({ type: { apiVersion: apiVersionOf(kind), kind: kind.kind }, backlog: [] }));
    this.#pumps = kinds.map((kind, index) => this.#pump(kind, this.#watches[index]?.backlog ?? []));
  }

  async #pump(kind: Kind, backlog: WatchEvent<MetadataOnly>[]): Promise<void> {
    const events = this.#client.watchBatches(metadataOf(kind), { sendInitialEvents: true }, this.#stop.signal);
    try {
      for await (const batch of events) backlog.push(...batch);
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  /** Does something of what can be done next, chosen at random; false if there is nothing left to do. */
  async step(): Promise<boolean> {
    await new Promise(setImmediate);
    const isFree = (queue: string) => (uid: string) => !this.#running.has(`${queue} ${uid}`);
    const choices: (() => unknown)[] = [
      ...this.#watches.filter(({ backlog }) => backlog.length > 0).map((watch) => () => this.#see(watch)),
      ...this.#calls.map((_call, index) => () => this.#calls.splice(index, 1)[0]?.()),
      ...[...this.#deletions].filter(isFree('delete')).map((uid) => () => this.attempt('delete', uid)),
      ...[...this.#orphans].filter(isFree('orphan')).map((uid) => () => this.attempt('orphan', uid)),
    ];
    const choice = choices[Math.floor(this.#random() * choices.length)];
    void choice?.();
    return choice !== undefined;
  }

  async settle(): Promise<void> {
    while (await this.step());
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#pumps);
  }

  /** Several at once: watches of different kinds run ahead of each other. */
  #see({ type, backlog }: Watch): void {
    for (const event of backlog.splice(0, 1 + Math.floor(this.#random() * 10))) {
      if (event.type === 'DELETED') this.#graph.forget(event.object.metadata.uid);
      else if (event.type !== 'BOOKMARK') this.#graph.observe(type, event.object.metadata);
    }
  }
}

const kindOf = ({ kind }: PlannedObject): Kind => kinds[kind] ?? ConfigMaps;
const nameOf = (index: number): string => `object-${index}`;
const uidOf = (index: number): string => `uid-of-${index}`;

function referenceTo(graph: readonly PlannedObject[], index: number | undefined, blocks: boolean): OwnerReference {
  const owner = index === undefined ? undefined : graph[index];
  const kind = owner === undefined ? ConfigMaps : kindOf(owner);
  const name = index === undefined ? 'nobody' : nameOf(index);
  const uid = index === undefined ? 'uid-of-nobody' : uidOf(index);
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, blockOwnerDeletion: blocks };
}

function place(graph: readonly PlannedObject[], index: number): { name: string; namespace?: string } {
  const planned = graph[index];
  const namespaced = planned === undefined || kindOf(planned).namespaced;
  return { name: nameOf(index), ...(namespaced && { namespace: 'default' }) };
}

function fill(client: RecordingClient, graph: readonly PlannedObject[]): void {
  for (const [index, planned] of graph.entries()) {
    const ownerReferences = planned.owners.map(({ object, blocks }) => referenceTo(graph, object, blocks));
    client.seed(kindOf(planned), { metadata: { ...place(graph, index), uid: uidOf(index), ownerReferences } });
  }
}

/** The remaining objects, each with its remaining owners, as text that is readable in a diff. */
function stateOf(client: RecordingClient): string[] {
  return kinds
    .flatMap((kind) => client.stored(kind))
    .map(({ metadata: { uid, ownerReferences = [], finalizers = [] } }) =>
      describeObject(
        uid,
        ownerReferences.map((owner) => owner.uid),
        finalizers,
      ),
    )
    .sort();
}

function expectedState(model: OwnershipModel): string[] {
  const uid = (index: number | undefined): string => (index === undefined ? 'uid-of-nobody' : uidOf(index));
  return [...model.survivors].map(([object, owners]) => describeObject(uid(object), [...owners].map(uid), [])).sort();
}

function describeObject(uid: string, owners: readonly string[], finalizers: readonly string[]): string {
  return `${uid} of ${owners.toSorted().join(', ')} ${finalizers.join(', ')}`;
}

function deleteObject(client: RecordingClient, graph: readonly PlannedObject[], index: number, mode: DeletionMode) {
  const planned = graph[index];
  if (planned === undefined) throw new Error(`no object ${index}`);
  const key = keyOf({ metadata: place(graph, index) });
  return client.delete(kindOf(planned), key, { propagationPolicy: mode }, never);
}

const modes = ['Background', 'Foreground', 'Orphan'] as const;

describe('the remaining objects of a random graph', () => {
  const seeds = Array.from({ length: 40 }, (_, index) => index + 1);

  test.for(seeds)('is what the rules say when objects are deleted one after the other (seed %d)', async (seed) => {
    const random = seededRandom(seed);
    const graph = planGraph(random, { objects: 40, ...graphOptions });
    const schedule = new Schedule(random);
    fill(schedule.user, graph);
    const model = new OwnershipModel(graph);
    await schedule.settle();
    expect(stateOf(schedule.user)).toEqual(expectedState(model));
    while (model.survivors.size > 0) {
      const survivors = [...model.survivors.keys()];
      const victim = survivors[Math.floor(random() * survivors.length)] ?? 0;
      const mode = modes[Math.floor(random() * modes.length)] ?? 'Background';
      await deleteObject(schedule.user, graph, victim, mode);
      model.delete(victim, mode);
      await schedule.settle();
      expect(stateOf(schedule.user), `after ${victim} was deleted: ${mode}`).toEqual(expectedState(model));
    }
    await schedule.end();
  });

  test.for(seeds)('is what the rules say when many are deleted at once, unless orphaning (seed %d)', async (seed) => {
    const random = seededRandom(1000 + seed);
    const graph = planGraph(random, { objects: 60, ...graphOptions });
    const schedule = new Schedule(random);
    fill(schedule.user, graph);
    const model = new OwnershipModel(graph);
    for (const victim of [...model.survivors.keys()].filter(() => random() < 0.2)) {
      for (let steps = Math.floor(random() * 20); steps > 0; steps--) await schedule.step();
      const mode = random() < 0.5 ? 'Background' : 'Foreground';
      await deleteObject(schedule.user, graph, victim, mode).catch(() => undefined); // collected already
      model.delete(victim, mode);
    }
    await schedule.settle();
    expect(stateOf(schedule.user)).toEqual(expectedState(model));
    await schedule.end();
  });
});
