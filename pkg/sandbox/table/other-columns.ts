import {
  isBeingDeleted,
  ownValue,
  type CSIDriver,
  type Cached,
  type CertificateSigningRequest,
  type HorizontalPodAutoscaler,
  type Ingress,
  type IngressClass,
  type NetworkPolicy,
  type PersistentVolume,
  type PriorityClass,
  type ResourceClaim,
  type ResourceQuota,
  type ResourceSlice,
  type StorageClass,
  type VolumeAttachment,
} from '../../api/index.ts';
import { formatAge, type Column } from './column.ts';
import { selectorText } from './workload-columns.ts';

type Row<T> = Omit<Column, 'cell'> & { cell(object: Cached<T>, nowMs: number): unknown };
type Autoscaler = Cached<HorizontalPodAutoscaler>;
type Metric = NonNullable<Autoscaler['spec']['metrics']>[number];

export const autoscalerColumns: readonly Row<HorizontalPodAutoscaler>[] = [
  { name: 'Reference', cell: ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}` },
  { name: 'Targets', cell: targets },
  { name: 'MinPods', cell: ({ spec }) => String(spec.minReplicas ?? '<unset>') },
  { name: 'MaxPods', cell: ({ spec }) => spec.maxReplicas },
  { name: 'Replicas', cell: ({ status }) => status?.currentReplicas ?? 0 },
];

function targets({ spec, status }: Autoscaler): string {
  const all = (spec.metrics ?? []).map((metric, index) => target(metric, status?.currentMetrics?.[index]));
  if (all.length === 0) return '<none>';
  const shown = all.slice(0, 2).join(', ');
  return all.length > 2 ? `${shown} + ${all.length - 2} more...` : shown;
}

type Current = NonNullable<NonNullable<Autoscaler['status']>['currentMetrics']>[number] | undefined;

function target(metric: Metric, now: Current): string {
  const unknown = '<unknown>';
  const percent = (value: number | undefined, otherwise: string): string =>
    value === undefined ? otherwise : `${value}%`;
  const resource = metric.resource ?? metric.containerResource;
  if (resource !== undefined) {
    const current = (metric.resource === undefined ? now?.containerResource : now?.resource)?.current;
    const { averageValue, averageUtilization } = resource.target;
    if (averageValue !== undefined) return `${resource.name}: ${current?.averageValue ?? unknown}/${averageValue}`;
    const used = percent(current?.averageUtilization, unknown);
    return `${resource.name}: ${used}/${percent(averageUtilization, '<auto>')}`;
  }
  if (metric.pods !== undefined) {
    return `${now?.pods?.current.averageValue ?? unknown}/${metric.pods.target.averageValue ?? ''}`;
  }
  const wanted = (metric.external ?? metric.object)?.target;
  if (wanted === undefined) return '<unknown type>';
  const current = (metric.external === undefined ? now?.object : now?.external)?.current;
  if (wanted.averageValue !== undefined) return `${current?.averageValue ?? unknown}/${wanted.averageValue} (avg)`;
  return `${current?.value ?? unknown}/${wanted.value ?? ''}`;
}

export const certificateRequestColumns: readonly Row<CertificateSigningRequest>[] = [
  { name: 'SignerName', cell: ({ spec }) => spec.signerName },
  { name: 'Requestor', cell: ({ spec }) => spec.username ?? '' },
  {
    name: 'RequestedDuration',
    cell: ({ spec: { expirationSeconds } }) =>
      expirationSeconds === undefined ? '<none>' : formatAge(expirationSeconds * 1000),
  },
  { name: 'Condition', cell: requestState },
];

function requestState({ status }: Cached<CertificateSigningRequest>): string {
  const types = (status?.conditions ?? []).map(({ type }) => type);
  const decision = types.includes('Denied') ? 'Denied' : types.includes('Approved') ? 'Approved' : 'Pending';
  const failed = types.includes('Failed') ? ',Failed' : '';
  return `${decision}${failed}${(status?.certificate ?? '') === '' ? '' : ',Issued'}`;
}

export const ingressColumns: readonly Row<Ingress>[] = [
  { name: 'Class', cell: ({ spec }) => spec?.ingressClassName ?? '<none>' },
  { name: 'Hosts', cell: hosts },
  { name: 'Address', cell: addresses },
  { name: 'Ports', cell: ({ spec }) => ((spec?.tls ?? []).length > 0 ? '80, 443' : '80') },
];

function hosts({ spec }: Cached<Ingress>): string {
  const rules = spec?.rules ?? [];
  const named = rules.flatMap(({ host = '' }) => (host === '' ? [] : [host]));
  if (named.length === 0) return '*';
  const shown = named.slice(0, 3).join(',');
  return rules.length > 3 && named.length >= 3 ? `${shown} + ${rules.length - 3} more...` : shown;
}

function addresses({ status }: Cached<Ingress>): string {
  const all = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '');
  return [...new Set(all.filter((each) => each !== ''))].sort().join(',');
}

export const ingressClassColumns: readonly Row<IngressClass>[] = [
  { name: 'Controller', cell: ({ spec }) => spec?.controller ?? '' },
  {
    name: 'Parameters',
    cell({ spec }) {
      if (spec?.parameters === undefined) return '<none>';
      const { kind, apiGroup, name } = spec.parameters;
      return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`;
    },
  },
];

export const networkPolicyColumns: readonly Row<NetworkPolicy>[] = [
  { name: 'Pod-Selector', cell: ({ spec }) => selectorText(spec?.podSelector) },
];

export const storageClassColumns: readonly Row<StorageClass>[] = [
  { name: 'Provisioner', cell: ({ provisioner }) => provisioner },
  { name: 'ReclaimPolicy', cell: ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete' },
  { name: 'VolumeBindingMode', cell: ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate' },
  { name: 'AllowVolumeExpansion', cell: ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false },
];

export const attachmentColumns: readonly Row<VolumeAttachment>[] = [
  { name: 'Attacher', cell: ({ spec }) => spec.attacher },
  { name: 'PV', cell: ({ spec }) => spec.source.persistentVolumeName ?? '' },
  { name: 'Node', cell: ({ spec }) => spec.nodeName },
  { name: 'Attached', type: 'boolean', cell: ({ status }) => status?.attached ?? false },
];

export const csiDriverColumns: readonly Row<CSIDriver>[] = [
  { name: 'AttachRequired', type: 'boolean', cell: ({ spec }) => spec.attachRequired ?? true },
  { name: 'PodInfoOnMount', type: 'boolean', cell: ({ spec }) => spec.podInfoOnMount ?? false },
  { name: 'StorageCapacity', type: 'boolean', cell: ({ spec }) => spec.storageCapacity ?? false },
  {
    name: 'TokenRequests',
    cell: ({ spec }) => spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? '<unset>',
  },
  { name: 'RequiresRepublish', type: 'boolean', cell: ({ spec }) => spec.requiresRepublish ?? false },
  { name: 'Modes', cell: ({ spec }) => spec.volumeLifecycleModes?.join(',') ?? '<none>' },
];

export const volumeColumns: readonly Row<PersistentVolume>[] = [
  { name: 'Reclaim Policy', cell: ({ spec }) => spec.persistentVolumeReclaimPolicy ?? '' },
  { name: 'Status', cell: ({ status, metadata }) => (metadata.deletionTimestamp ? 'Terminating' : status?.phase) },
  { name: 'Claim', cell: ({ spec: { claimRef } }) => (claimRef ? `${claimRef.namespace}/${claimRef.name}` : '') },
  { name: 'StorageClass', cell: ({ spec }) => spec.storageClassName ?? '' },
  { name: 'VolumeAttributesClass', cell: ({ spec }) => spec.volumeAttributesClassName ?? '<unset>' },
  { name: 'Reason', cell: ({ status }) => status?.reason ?? '' },
];

export const priorityClassColumns: readonly Row<PriorityClass>[] = [
  { name: 'Value', type: 'integer', cell: ({ value }) => value },
  { name: 'Global-Default', type: 'boolean', cell: ({ globalDefault }) => globalDefault ?? false },
];

export const resourceClaimColumns: readonly Row<ResourceClaim>[] = [
  {
    name: 'State',
    cell({ metadata, status }) {
      const isDeleted = isBeingDeleted(metadata);
      const isAllocated = status?.allocation !== undefined;
      const states = { deleted: isDeleted, pending: !isAllocated && !isDeleted, allocated: isAllocated };
      const isReserved = isAllocated && (status.reservedFor ?? []).length > 0;
      return Object.entries({ ...states, reserved: isReserved })
        .flatMap(([state, is]) => (is ? [state] : []))
        .join();
    },
  },
];

export const resourceSliceColumns: readonly Row<ResourceSlice>[] = [
  { name: 'Node', cell: ({ spec }) => spec.nodeName ?? '' },
  { name: 'Driver', cell: ({ spec }) => spec.driver },
  { name: 'Pool', cell: ({ spec }) => spec.pool.name },
];

export const quotaColumns: readonly Row<ResourceQuota>[] = [
  { name: 'Request', cell: (quota) => usage(quota, (name) => !name.startsWith('limits.')) },
  { name: 'Limit', cell: (quota) => usage(quota, (name) => name.startsWith('limits.')) },
];

function usage({ status }: Cached<ResourceQuota>, counts: (name: string) => boolean): string {
  return Object.entries(status?.hard ?? {})
    .filter(([name]) => counts(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, hard]) => `${name}: ${ownValue(status?.used, name) ?? '0'}/${hard}`)
    .join(', ');
}
