import type { Cached, DeviceTaintRule } from '../../pkg/api/index.ts';
import { deviceIdOf, type DeviceId } from './pools.ts';

type Selector = Cached<DeviceTaintRule>['spec']['deviceSelector'];

export function isEvicting({ spec }: Cached<DeviceTaintRule>): boolean {
  return spec.taint.effect === 'NoExecute';
}

/** A rule without a selector selects nothing. One with an empty selector selects all devices. */
export function selects(selector: Selector, { driver, pool, device }: DeviceId): boolean {
  if (selector === undefined) return false;
  return (
    (selector.driver ?? driver) === driver && (selector.pool ?? pool) === pool && (selector.device ?? device) === device
  );
}

/** The values under which a device is found by selectors: see `valueToFind`. */
export function valuesToFind(id: DeviceId): string[] {
  return [deviceIdOf(id), `device ${id.device}`, `pool ${id.pool}`, `driver ${id.driver}`, 'all'];
}

/** The value under which the fewest other devices are found. Undefined if the selector selects nothing. */
export function valueToFind(selector: Selector): string | undefined {
  if (selector === undefined) return undefined;
  const { driver, pool, device } = selector;
  if (driver !== undefined && pool !== undefined && device !== undefined) return deviceIdOf({ driver, pool, device });
  if (device !== undefined) return `device ${device}`;
  if (pool !== undefined) return `pool ${pool}`;
  return driver === undefined ? 'all' : `driver ${driver}`;
}
