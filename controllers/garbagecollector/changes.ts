import type { MetadataOnly } from '../../pkg/api/index.ts';
import type { Reconcile } from '../../pkg/controller/index.ts';
import type { Relist } from '../../informers/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { forEachInTurns, type Clock } from '../../pkg/time/index.ts';
import type { ObjectType } from './graph-node.ts';
import type { DependencyGraph, ObservedMeta } from './graph.ts';

type Steps = (graph: DependencyGraph) => Iterable<unknown>;

/** One change of the graph on its way there, of any size: applied in steps, between which others may have their turn. */
export class GraphChange {
  /** What it is about, for logs. */
  readonly resource: string;
  readonly #steps: Steps;

  constructor(resource: string, steps: Steps) {
    this.resource = resource;
    this.#steps = steps;
  }

  stepsOn(graph: DependencyGraph): Iterable<unknown> {
    return this.#steps(graph);
  }
}

/** What has been seen to happen to an object. */
export interface ObservedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: { readonly metadata: ObservedMeta };
}

export interface Origin {
  readonly resource: string;
  readonly type: ObjectType;
}

export function watchedChange({ resource, type }: Origin, events: readonly ObservedEvent[]): GraphChange {
  return new GraphChange(resource, function* (graph) {
    for (const event of events) {
      if (event.type === 'DELETED') graph.forget(event.object.metadata.uid);
      else graph.observe(type, event.object.metadata);
      yield;
    }
  });
}

/** Something to be done once all changes before it have been applied. */
export function laterChange({ resource }: Origin, callback: () => void): GraphChange {
  return new GraphChange(resource, () => {
    callback();
    return [];
  });
}

/** Joins events that come one by one: those that come before the last change has had its turn become part of it. */
export function createJoining(origin: Origin, enqueue: (change: GraphChange) => void): (event: ObservedEvent) => void {
  let open: ObservedEvent[] | undefined;
  return (event) => {
    if (open !== undefined) {
      open.push(event);
      return;
    }
    const events = [event];
    open = events;
    enqueue(
      new GraphChange(origin.resource, (graph) => {
        open = undefined;
        return watchedChange(origin, events).stepsOn(graph);
      }),
    );
  };
}

/** All objects of a resource, as they are now. What else was thought to be there has been deleted unseen. */
export function relistedChange(
  { resource, type }: Origin,
  { objects }: Pick<Relist<MetadataOnly>, 'objects'>,
  whenApplied: () => void,
): GraphChange {
  return new GraphChange(resource, function* (graph) {
    const uids = new Set<string>();
    for (const { metadata } of objects.values()) {
      uids.add(metadata.uid);
      graph.observe(type, metadata);
      yield;
    }
    for (const uid of graph.othersOf(type, uids)) {
      if (uid !== undefined) graph.forget(uid);
      yield;
    }
    whenApplied();
  });
}

/** The resource is not watched any more. */
export function releasedChange({ resource, type }: Origin): GraphChange {
  return new GraphChange(resource, function* (graph) {
    for (const uid of graph.othersOf(type, new Set())) {
      if (uid !== undefined) graph.unobserve(uid);
      yield;
    }
  });
}

/** Applies one change after the other. Never fails: a change cannot be tried again once later ones have been applied. */
export function createApplyChange(graph: DependencyGraph, clock: Clock, logger: Logger): Reconcile<GraphChange> {
  return async (change) => {
    try {
      await forEachInTurns(change.stepsOn(graph), clock, () => {});
    } catch (error) {
      logger.error({ err: error, resource: change.resource }, 'graph change failed');
    }
    return {};
  };
}
