import { isEqualJson, ownValue } from '../../pkg/api/index.ts';
import { nanoValue } from '../../pkg/quantities/index.ts';
import type { ClaimStatus } from './actions.ts';
import { sizeOf, type Claim, type MatchOptions, type Volume } from '../../pkg/volumes/index.ts';

const preResizeCapacity = 'volume.alpha.kubernetes.io/pre-resize-capacity';

/** The status of a claim without a volume; undefined if it is so already. */
export function unboundStatus({ status = {} }: Claim, phase: 'Pending' | 'Lost'): ClaimStatus | undefined {
  const { accessModes, capacity, currentVolumeAttributesClassName, ...others } = status as ClaimStatus;
  const isCleared = [accessModes, capacity, currentVolumeAttributesClassName].every((field) => field === undefined);
  return status.phase === phase && isCleared ? undefined : { ...others, phase };
}

/** The status of a claim with this volume; undefined if it is so already. */
export function boundStatus(
  claim: Claim,
  volume: Volume,
  { attributesClasses }: MatchOptions,
): ClaimStatus | undefined {
  const before = (claim.status ?? {}) as ClaimStatus;
  const status: ClaimStatus = { ...before, phase: 'Bound', accessModes: [...(volume.spec.accessModes ?? [])] };
  // Later, a capacity that differs may be on purpose: a file system may be smaller than its device.
  if (before.phase !== 'Bound') Object.assign(status, capacityOf(before, volume));
  // Later, the external resizer says which class the volume has.
  if (attributesClasses && before.phase === 'Pending') {
    status.currentVolumeAttributesClassName = volume.spec.volumeAttributesClassName;
  }
  return isEqualJson(before, status) ? undefined : status;
}

function capacityOf(before: ClaimStatus, volume: Volume): Pick<ClaimStatus, 'capacity'> {
  const { capacity } = volume.spec;
  if (ownValue(capacity, 'storage') === undefined) throw new NoCapacityError(volume.metadata.name);
  const announced = ownValue(volume.metadata.annotations, preResizeCapacity);
  if (announced !== undefined) {
    const storage = nanoValue(announced) === undefined ? ownValue(capacity, 'storage') : announced;
    return { capacity: { ...before.capacity, storage: storage ?? '0' } };
  }
  const isSame = ownValue(before.capacity, 'storage') !== undefined && sizeOf(before.capacity) === sizeOf(capacity);
  return isSame ? {} : { capacity: { ...capacity } };
}

export class NoCapacityError extends Error {
  override readonly name = 'NoCapacityError';
  readonly reason = 'NoCapacity';

  constructor(volume: string) {
    super(`PersistentVolume "${volume}" is without a storage capacity`);
  }
}
