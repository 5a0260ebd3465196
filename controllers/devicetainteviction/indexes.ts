import type { DeviceTaintRule, ResourceClaim, ResourceSlice } from '../../pkg/api/index.ts';
import { defineIndex } from '../../informers/index.ts';
import { poolIdOf } from '../../pkg/resourceclaims/index.ts';
import { deviceIdOf, evictingTaintsOf } from './pools.ts';
import { valuesToFind } from './rule-selectors.ts';

/** Claims by the devices that are allocated to them: see `valueToFind`. */
export const claimsByDevice = defineIndex<ResourceClaim>('device', ({ status }) => {
  const devices = status?.allocation?.devices?.results ?? [];
  return [...new Set(devices.flatMap(valuesToFind))];
});

export const slicesByPool = defineIndex<ResourceSlice>('pool', ({ spec }) => [
  poolIdOf({ driver: spec.driver, pool: spec.pool.name }),
]);

/** Slices by their devices with NoExecute taints. Most have none, whatever the number of their devices. */
export const slicesByTaintedDevice = defineIndex<ResourceSlice>('tainted device', (slice) => {
  const { driver, pool } = slice.spec;
  return [...evictingTaintsOf(slice).keys()].map((device) => deviceIdOf({ driver, pool: pool.name, device }));
});

export const rulesByEffect = defineIndex<DeviceTaintRule>('effect', ({ spec }) => [spec.taint.effect]);
