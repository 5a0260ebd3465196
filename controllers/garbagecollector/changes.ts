import type { MetadataOnly } from '../../pkg/api/index.ts';
import type { Reconcile } from '../../pkg/controller/index.ts';
import type { Relist } from '../../informers/index.ts';
import type { Logger } from '../../pkg/log/index.ts';
import { forEachInTurns, type Clock } from '../../pkg/time/index.ts';
import type { ObjectType } from './graph-node.ts';
import type { DependencyGraph, ObservedMeta } from './graph.ts';

type Steps = (graph: DependencyGraph) => Iterable<unknown>;

/** A change of the graph, of any size. It is applied in steps, and other work can run between the steps. */
export class GraphChange {
  /** The resource, for logs. */
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

/** A watch event of an object. */
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

/** Calls back once all earlier changes are applied. */
export function laterChange({ resource }: Origin, callback: () => void): GraphChange {
  return new GraphChange(resource, () => {
    callback();
    return [];
  });
}

/** Joins single events: events that come before the last change is applied become part of that change. */
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

/** The complete list of a resource. Other objects of that resource were deleted without an event. */
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

/** Applies a change. Never throws: a change cannot be retried after later changes were applied. */
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
