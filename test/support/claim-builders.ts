import {
  DeviceTaintRules,
  PodGroups,
  ResourceClaims,
  ResourceClaimTemplates,
  ResourceSlices,
  type AllocatedDevice,
  type DeviceTaint,
  type DeviceTaintRule,
  type PodGroup,
  type ResourceClaim,
  type ResourceClaimConsumer,
  type ResourceClaimTemplate,
  type ResourceSlice,
} from '../../pkg/api/index.ts';
import { build, type Described } from './builders.ts';
import { claimSpec } from './claim-user.ts';

export function resourceClaim(described: Described<ResourceClaim> = {}): ResourceClaim {
  return build(ResourceClaims, described, { spec: described.spec ?? claimSpec, status: described.status });
}

export function claimTemplate(described: Described<ResourceClaimTemplate> = {}): ResourceClaimTemplate {
  return build(ResourceClaimTemplates, described, { spec: { spec: claimSpec, ...described.spec } });
}

export function podGroup(described: Described<PodGroup> = {}): PodGroup {
  const spec = { schedulingPolicy: { basic: {} }, ...described.spec };
  return build(PodGroups, described, { spec, status: described.status });
}

/** A slice of the pool `pool` of `example.com`, with these devices and their taints. */
export function resourceSlice(
  name: string,
  devices: Readonly<Record<string, DeviceTaint[]>>,
  generation = 1,
): ResourceSlice {
  const pool = { name: 'pool', generation, resourceSliceCount: 1 };
  const list = Object.entries(devices).map(([device, taints]) => ({ name: device, taints }));
  return build(ResourceSlices, { name }, { spec: { driver: 'example.com', pool, devices: list } });
}

export function taintRule(described: Described<DeviceTaintRule> & { readonly effect?: string } = {}): DeviceTaintRule {
  const taint = { key: 'rule', effect: described.effect ?? 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' };
  const spec = { deviceSelector: { driver: 'example.com' }, taint, ...described.spec };
  return build(DeviceTaintRules, described, { spec, status: described.status });
}

/** The status of a claim with these devices, `gpu-0` by default. */
export function withDevices(
  devices: readonly Partial<AllocatedDevice>[],
  ...reservedFor: readonly ResourceClaimConsumer[]
): NonNullable<ResourceClaim['status']> {
  const usual = { request: 'device', driver: 'example.com', pool: 'pool', device: 'gpu-0' };
  const results = devices.map((device) => ({ ...usual, ...device }));
  return { allocation: { devices: { results } }, reservedFor: [...reservedFor] };
}

/** The status of a claim that was allocated, for these consumers. */
export function allocated(...reservedFor: readonly ResourceClaimConsumer[]): NonNullable<ResourceClaim['status']> {
  const results = [{ request: 'device', driver: 'example.com', pool: 'pool', device: 'gpu-0' }];
  return { allocation: { devices: { results } }, ...(reservedFor.length > 0 && { reservedFor: [...reservedFor] }) };
}
