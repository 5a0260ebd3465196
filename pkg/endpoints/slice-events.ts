import { objectKey, type Cached, type EndpointSlice, type ObjectKey } from '../api/index.ts';
import { defineIndex, type Handler, type Index, type Store } from '../../informers/index.ts';
import { managedByLabel, serviceNameLabel } from './names.ts';
import type { SliceTracker } from './slice-tracker.ts';

/** The Service that the slice's label names. */
export function serviceKeyOf({ metadata: { labels, namespace } }: Cached<EndpointSlice>): ObjectKey | undefined {
  const name = labels?.[serviceNameLabel] ?? '';
  return name === '' ? undefined : objectKey(namespace, name);
}

const managerOf = ({ metadata }: Cached<EndpointSlice>): string => metadata.labels?.[managedByLabel] ?? '';

export const slicesByService: Index<EndpointSlice> = defineIndex<EndpointSlice>('service and manager', (slice) => {
  const service = serviceKeyOf(slice);
  return service === undefined ? [] : [`${service} ${managerOf(slice)}`];
});

/** The slices of one Service that `manager` manages. */
export function slicesOf(
  store: Store<EndpointSlice>,
  service: ObjectKey,
  manager: string,
): readonly Cached<EndpointSlice>[] {
  return store.byIndex(slicesByService, `${service} ${manager}`);
}

export interface SliceEventsOptions {
  readonly manager: string;
  readonly tracker: SliceTracker;
  /** Ignore the slices of the initial list: every Service is synced at the start anyway. */
  readonly skipInitial: boolean;
  enqueue(service: ObjectKey): void;
}

/** Enqueues the Services whose slices another client has changed. */
export function followSlices({ manager, tracker, skipInitial, enqueue }: SliceEventsOptions): Handler<EndpointSlice> {
  const isOurs = (slice: Cached<EndpointSlice>): boolean => managerOf(slice) === manager;
  const enqueueService = (slice: Cached<EndpointSlice>): void => {
    const service = serviceKeyOf(slice);
    if (service !== undefined) enqueue(service);
  };
  const enqueueIfForeign = (slice: Cached<EndpointSlice>, isDeletion = false): void => {
    const service = isOurs(slice) ? serviceKeyOf(slice) : undefined;
    if (service !== undefined && tracker.isForeignChange(service, slice, isDeletion)) enqueue(service);
  };
  return {
    added(slice, initial) {
      if (!initial || !skipInitial) enqueueIfForeign(slice);
    },
    updated(before, after) {
      if (before.metadata.resourceVersion === after.metadata.resourceVersion) return;
      if (serviceKeyOf(before) !== serviceKeyOf(after) || isOurs(before) !== isOurs(after)) {
        // Labels do not change the generation, so the tracker cannot recognize this change.
        enqueueService(before);
        enqueueService(after);
      } else {
        enqueueIfForeign(after);
      }
    },
    deleted: (last) => enqueueIfForeign(last, true),
  };
}
