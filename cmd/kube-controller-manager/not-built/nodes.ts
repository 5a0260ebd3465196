import type { FactsSpec } from '../../../pkg/controller/index.ts';
import { atLeast, flag, oneOf, type FlagTable } from '../../../pkg/flags/index.ts';

/** Controllers of nodes, networks and devices. */
export const nodeControllers: readonly FactsSpec<FlagTable>[] = [
  {
    name: 'device-taint-eviction-controller',
    requiredGates: ['DynamicResourceAllocation', 'DRADeviceTaints'],
    flags: {
      'concurrent-device-taint-eviction-syncs': flag('int32', {
        default: 8,
        check: atLeast(1),
        config: 'DeviceTaintEvictionController.ConcurrentSyncs',
        help: 'Pod evictions that may run at the same time',
      }),
    },
  },
  {
    name: 'node-ipam-controller',
    aliases: ['nodeipam'],
    flags: {
      'allocate-node-cidrs': flag('bool', {
        group: 'Generic',
        config: 'KubeCloudShared.AllocateNodeCIDRs',
        help: 'Allocate a pod CIDR of --cluster-cidr to each node',
        noEffect: 'node-ipam-controller is not part of this build, so new nodes get no podCIDR from it',
      }),
      'cidr-allocator-type': flag('string', {
        default: 'RangeAllocator',
        group: 'Generic',
        config: 'KubeCloudShared.CIDRAllocatorType',
        help: 'How CIDRs are allocated; only "RangeAllocator"',
        check: oneOf('', 'RangeAllocator'),
      }),
      'cluster-cidr': flag('string', {
        group: 'Generic',
        config: 'KubeCloudShared.ClusterCIDR',
        help: 'CIDRs for pods; used with --allocate-node-cidrs',
      }),
      'node-cidr-mask-size': flag('int32', {
        config: 'NodeIPAMController.NodeCIDRMaskSize',
        help: 'Mask size of the CIDR of a node; 24 for IPv4 and 64 for IPv6 if not set',
      }),
      'node-cidr-mask-size-ipv4': flag('int32', {
        config: 'NodeIPAMController.NodeCIDRMaskSizeIPv4',
        help: 'Mask size of the IPv4 CIDR of a node in a dual-stack cluster',
      }),
      'node-cidr-mask-size-ipv6': flag('int32', {
        config: 'NodeIPAMController.NodeCIDRMaskSizeIPv6',
        help: 'Mask size of the IPv6 CIDR of a node in a dual-stack cluster',
      }),
      'service-cluster-ip-range': flag('string', {
        config: 'NodeIPAMController.ServiceCIDR',
        help: 'CIDRs for Services; no node gets a CIDR that overlaps with them',
      }),
    },
  },
  {
    name: 'resourceclaim-controller',
    aliases: ['resource-claim-controller'],
    requiredGates: ['DynamicResourceAllocation'],
    flags: {
      'concurrent-resourceclaim-syncs': flag('int32', {
        default: 50,
        check: atLeast(1),
        config: 'ResourceClaimController.ConcurrentSyncs',
        help: 'ResourceClaims that may sync at the same time',
      }),
    },
  },
  { name: 'resourcepoolstatusrequest-controller', requiredGates: ['DRAResourcePoolStatus'] },
  { name: 'service-cidr-controller', requiredGates: ['MultiCIDRServiceAllocator'] },
];
