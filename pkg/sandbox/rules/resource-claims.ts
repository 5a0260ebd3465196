import {
  formatTime,
  isBeingDeleted,
  isEqualJson,
  objectKey,
  ownValue,
  type ResourceClaim,
  type ResourceClaimSpec,
  type ResourceClaimTemplate,
  type ResourceSlice,
} from '../../api/index.ts';
import { invalid, type FieldError } from '../failure.ts';
import { defineRules, immutable, type WriteContext } from './rules.ts';

const group = 'resource.k8s.io';
const adminLabel = 'resource.kubernetes.io/admin-access';

/** A request for one device, unless it says otherwise. */
function setDefaults({ devices }: ResourceClaimSpec): void {
  for (const { exactly, firstAvailable } of devices?.requests ?? []) {
    for (const request of [...(exactly === undefined ? [] : [exactly]), ...(firstAvailable ?? [])]) {
      request.allocationMode ??= 'ExactCount';
      if (request.allocationMode === 'ExactCount') request.count ??= 1;
    }
  }
}

/** Only namespaces with the label may have access to devices that are in use. */
function checkAdminAccess(
  { kind = '', metadata }: ResourceClaim | ResourceClaimTemplate,
  { devices }: ResourceClaimSpec,
  context: WriteContext,
): void {
  const index = (devices?.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true);
  if (index < 0) return;
  const namespace = context.find('namespaces', objectKey(undefined, metadata.namespace ?? ''));
  if (ownValue(namespace?.metadata.labels, adminLabel) === 'true') return;
  const field = `spec.devices.requests[${index}].adminAccess`;
  const detail = `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`;
  const subject = { group, resource: '', kind };
  throw invalid(subject, metadata.name, [{ type: 'Forbidden', field, detail }]);
}

interface DeviceId {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
  readonly shareID?: string | undefined;
}

const idOf = ({ driver, pool, device, shareID = '' }: DeviceId): string => [driver, pool, device, shareID].join('/');

/** What is said about a device goes with its allocation. */
function dropDeallocatedDevices({ status }: ResourceClaim, old: ResourceClaim): void {
  const allocated = (claim: Pick<ResourceClaim, 'status'>): string[] =>
    (claim.status?.allocation?.devices?.results ?? []).map(idOf);
  if (status?.devices === undefined) return;
  const kept = new Set(allocated({ status }));
  const dropped = new Set(allocated(old).filter((id) => !kept.has(id)));
  status.devices = status.devices.filter((device) => !dropped.has(idOf(device)));
  if (status.devices.length === 0) delete status.devices;
}

function validateClaimStatus({ metadata, status }: ResourceClaim, old: ResourceClaim): FieldError[] {
  const { allocation, reservedFor = [] } = status ?? {};
  const errors: FieldError[] = [];
  const forbid = (detail: string): void => void errors.push({ type: 'Forbidden', field: 'status.reservedFor', detail });
  const known = new Set((old.status?.reservedFor ?? []).map(({ uid }) => uid));
  if (reservedFor.length > 0 && allocation === undefined) forbid('may not be specified when `allocated` is not set');
  else if (isBeingDeleted(metadata) && reservedFor.some(({ uid }) => !known.has(uid))) {
    forbid('new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set');
  }
  const before = old.status?.allocation;
  if (before !== undefined && allocation !== undefined) {
    errors.push(...immutable('status.allocation', isEqualJson(before, allocation), allocation));
  }
  return errors;
}

export const resourceClaimRules = defineRules<ResourceClaim>({
  defaults: ({ spec }) => setDefaults(spec),
  beforeCreate: (claim, context) => checkAdminAccess(claim, claim.spec, context),
  beforeStatusUpdate: dropDeallocatedDevices,
  validateUpdate: ({ spec }, old) => immutable('spec', isEqualJson(spec, old.spec), spec),
  validateStatus: validateClaimStatus,
});

export const resourceClaimTemplateRules = defineRules<ResourceClaimTemplate>({
  defaults: ({ spec }) => setDefaults(spec.spec),
  beforeCreate: (template, context) => checkAdminAccess(template, template.spec.spec, context),
  validateUpdate: ({ spec }, old) => immutable('spec', isEqualJson(spec, old.spec), spec),
});

/** Taints last from when they were set. */
function dateTaints({ spec }: ResourceSlice, { nowMs }: WriteContext): void {
  for (const { taints } of spec.devices ?? []) {
    for (const taint of taints ?? []) taint.timeAdded ??= formatTime(nowMs);
  }
}

export const resourceSliceRules = defineRules<ResourceSlice>({
  tracksGeneration: true,
  beforeCreate: dateTaints,
  beforeUpdate: (slice, _old, context) => dateTaints(slice, context),
});
