import { type AllocatedDevice, type Cached, type DeviceTaint, type ResourceSlice } from '../../pkg/api/index.ts';

/** The device of a claim, or of a slice. */
export type DeviceId = Pick<Cached<AllocatedDevice>, 'driver' | 'pool' | 'device'>;

export function deviceIdOf({ driver, pool, device }: DeviceId): string {
  return `${driver}/${pool}/${device}`;
}

/** The NoExecute taints of a slice, by device. Devices without any are left out. */
export function evictingTaintsOf({ spec }: Cached<ResourceSlice>): ReadonlyMap<string, readonly Cached<DeviceTaint>[]> {
  const byDevice = new Map<string, readonly Cached<DeviceTaint>[]>();
  for (const { name, taints } of spec.devices ?? []) {
    const evicting = (taints ?? []).filter(({ effect }) => effect === 'NoExecute');
    if (evicting.length > 0) byDevice.set(name, evicting);
  }
  return byDevice;
}
