import {
  apiVersionOf,
  EndpointsKind,
  isEqualJson,
  type Cached,
  type Endpoints,
  type EndpointSubset,
  type Labels,
  type ObjectMeta,
  type Pod,
  type Service,
  type Unsaved,
} from '../../pkg/api/index.ts';
import { headlessLabel, isHeadless, repackSubsets, triggerTimeAnnotation } from '../../pkg/endpoints/index.ts';
import { truncateSubsets } from './capacity.ts';
import { computeSubsets } from './subsets.ts';

const managedByLabel = 'endpoints.kubernetes.io/managed-by';
export const managedBy = 'endpoint-controller';
const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity';

export interface Snapshot {
  readonly service: Cached<Service>;
  readonly pods: readonly Cached<Pod>[];
  readonly current: Cached<Endpoints> | undefined;
  /** The time of the change that triggered this sync. */
  readonly triggerTime: string | undefined;
}

/** The Endpoints to write; undefined if the current ones are right. */
export function planEndpoints({ service, pods, current, triggerTime }: Snapshot): Unsaved<Endpoints> | undefined {
  const all = computeSubsets(service, pods);
  const truncated = truncateSubsets(all);
  const subsets = truncated ?? all;
  if (current !== undefined && isCurrent(current, service, subsets, truncated !== undefined)) return undefined;
  const {
    [triggerTimeAnnotation]: _lastTime,
    [overCapacityAnnotation]: _wasTruncated,
    ...kept
  } = current?.metadata.annotations ?? {};
  const metadata: ObjectMeta = {
    ...(current?.metadata as ObjectMeta | undefined),
    namespace: service.metadata.namespace,
    name: service.metadata.name,
    labels: labelsOf(service),
    annotations: {
      ...kept,
      ...(triggerTime !== undefined && { [triggerTimeAnnotation]: triggerTime }),
      ...(truncated !== undefined && { [overCapacityAnnotation]: 'truncated' }),
    },
  };
  return {
    apiVersion: apiVersionOf(EndpointsKind),
    kind: EndpointsKind.kind,
    metadata,
    subsets: subsets as EndpointSubset[], // serializing does not modify objects from the cache
  };
}

function isCurrent(
  { subsets = [], metadata }: Cached<Endpoints>,
  service: Cached<Service>,
  wanted: readonly Cached<EndpointSubset>[],
  isTruncated: boolean,
): boolean {
  const { [overCapacityAnnotation]: capacity } = metadata.annotations ?? {};
  return (
    capacity === (isTruncated ? 'truncated' : undefined) &&
    hasLabelsOf(service, metadata.labels ?? {}) &&
    (isSame(subsets, wanted) || isSame(repackSubsets(withoutVersions(subsets)), wanted))
  );
}

function isSame(a: readonly Cached<EndpointSubset>[], b: readonly Cached<EndpointSubset>[]): boolean {
  return isEqualJson(a, b, { emptyIsAbsent: true });
}

/** Objects from older releases have the resource version of each pod, which does not matter here. */
function withoutVersions(subsets: readonly Cached<EndpointSubset>[]): Cached<EndpointSubset>[] {
  const strip = (addresses: Cached<EndpointSubset>['addresses']): Cached<EndpointSubset>['addresses'] =>
    addresses?.map(({ targetRef, ...address }) => {
      if (targetRef === undefined) return address;
      const { resourceVersion: _version, ...reference } = targetRef;
      return { ...address, targetRef: reference };
    });
  return subsets.map(({ addresses, notReadyAddresses, ports }) => ({
    addresses: strip(addresses),
    notReadyAddresses: strip(notReadyAddresses),
    ports,
  }));
}

/** Ignores the headless label: every write sets it, but it is no reason for a write. */
function hasLabelsOf(service: Cached<Service>, labels: Labels): boolean {
  const { [headlessLabel]: _wanted, ...wanted } = labelsOf(service);
  const { [headlessLabel]: _present, ...present } = labels;
  return isEqualJson(present, wanted);
}

function labelsOf(service: Cached<Service>): Record<string, string> {
  const { [headlessLabel]: _own, ...labels } = service.metadata.labels ?? {};
  return { ...labels, ...(isHeadless(service) && { [headlessLabel]: '' }), [managedByLabel]: managedBy };
}
