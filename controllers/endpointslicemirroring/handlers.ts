import { keyOf, type Cached, type Endpoints, type Service } from '../../pkg/api/index.ts';
import type { KeySink } from '../../pkg/controller/index.ts';
import type { Handler } from '../../informers/index.ts';
import { isMirrored } from './plan.ts';

/** Enqueues Endpoints that are mirrored, before or after the change. */
export function enqueueMirrored(queue: KeySink): Handler<Endpoints> {
  return {
    added: (object) => isMirrored(object) && queue.add(keyOf(object)),
    updated: (before, after) => (isMirrored(before) || isMirrored(after)) && queue.add(keyOf(after)),
    deleted: (last) => isMirrored(last) && queue.add(keyOf(last)),
  };
}

/** Enqueues Services without a selector, and Services that get or lose one. */
export function enqueueWithoutSelector(queue: KeySink): Handler<Service> {
  return {
    added: (service) => !hasSelector(service) && queue.add(keyOf(service)),
    updated: (before, after) => hasSelector(before) !== hasSelector(after) && queue.add(keyOf(after)),
    deleted: (last) => !hasSelector(last) && queue.add(keyOf(last)),
  };
}

export const hasSelector = ({ spec }: Cached<Service>): boolean => spec.selector !== undefined;
